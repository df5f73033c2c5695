# The image of `research serve` and of every other command. docs/service.md says how to run it.
FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /tmp

# Slim and not distroless: a command researcher needs a shell.
FROM node:22-slim
COPY --from=build /tmp/research-cli-*.tgz /tmp/
# pg is the one package that a database needs; the rest is bundled.
RUN npm install --global --no-audit --no-fund /tmp/research-cli-*.tgz pg@8 \
  && npm cache clean --force \
  && rm /tmp/research-cli-*.tgz \
  && install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
WORKDIR /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/health').then((answer) => { process.exitCode = answer.ok ? 0 : 1 }, () => { process.exitCode = 1 })"]
ENTRYPOINT ["research"]
CMD ["serve", "--host", "0.0.0.0", "--data", "/data"]
