/**
 * For servers of these tests only: 127.0.0.1, localhost, research.example, and the hosts of providers for what comes through
 * a proxy of these tests. It is signed by itself, so that it is trusted only where NODE_EXTRA_CA_CERTS names it.
 */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIICUDCCAfWgAwIBAgIUWxPC31FAB6fbhZQ9vothKkvbymswCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOcmVzZWFyY2ggdGVzdHMwIBcNMjYxMTI3MTYxNTU0WhgPMjEy
NjExMDMxNjE1NTRaMBkxFzAVBgNVBAMMDnJlc2VhcmNoIHRlc3RzMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEM19RzRZyzEuwiEHRlU3yFFFMqYfwq+BLkAALySAL
JeLJYc7oH+VtNdKrhqTk1FgjDYhwwbruUtwDbA6k9IqzyqOCARcwggETMB0GA1Ud
DgQWBBSfV8m03efGu67re2EC5QQtg25LejAfBgNVHSMEGDAWgBSfV8m03efGu67r
e2EC5QQtg25LejAPBgNVHRMBAf8EBTADAQH/MIG/BgNVHREEgbcwgbSHBH8AAAGC
CWxvY2FsaG9zdIIQcmVzZWFyY2guZXhhbXBsZYIOYXBpLm9wZW5haS5jb22CEWFw
aS5wZXJwbGV4aXR5LmFpggphcGkuZXhhLmFpgg9hcGkucGFyYWxsZWwuYWmCIWdl
bmVyYXRpdmVsYW5ndWFnZS5nb29nbGVhcGlzLmNvbYIOYXBpLnRhdmlseS5jb22C
HG15LXJlc291cmNlLm9wZW5haS5henVyZS5jb20wCgYIKoZIzj0EAwIDSQAwRgIh
ANNufv0XTr8CNmKsJl0liDjcU/GIViqSMKNZj/mW7PGkAiEA9F9qlouQIrhOnFzt
PDjmASYoBtAKc9P3PBSGQRLQWJ8=
-----END CERTIFICATE-----
`;

/** Its key; it opens nothing. */
export const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgivnjdq3gJjnyFCKT
4pAxjneZUB8dJPtECl+qptA2iCihRANCAAQzX1HNFnLMS7CIQdGVTfIUUUyph/Cr
4EuQAAvJIAsl4slhzugf5W010quGpOTUWCMNiHDBuu5S3ANsDqT0irPK
-----END PRIVATE KEY-----
`;
