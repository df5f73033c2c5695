// What build/imports.js lets code import: files as text, and YAML as data.
declare module "*?raw" {
  const text: string;
  export default text;
}
declare module "*.yaml" {
  const data: Record<string, unknown>;
  export default data;
}
