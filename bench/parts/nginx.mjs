import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST_CORE, pidOf, spawnPinned, stop } from './pinned-process.mjs';

const START_TIMEOUT_MS = 5_000;
const POLL_MS = 20;

/**
 * nginx as a reverse proxy at its best: one worker, connections kept on both sides, no log, bodies in memory.
 * @param {string} command
 * @param {string} upstream
 */
export async function startNginx(command, upstream) {
  const root = mkdtempSync(join(tmpdir(), 'modgate-bench-nginx-'));
  const port = await findFreePort();
  const config = join(root, 'nginx.conf');
  writeFileSync(config, createConfig(root, port, new URL(upstream).host));
  const child = spawnPinned(HOST_CORE, command, ['-p', root, '-c', config, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilAnswering(`${url}/served`);
  return {
    pid: pidOf(child),
    url,
    stop: async () => {
      await stop(child);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function createConfig(root, port, upstream) {
  return `daemon off;
worker_processes 1;
pid ${root}/nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${root}/body;
  proxy_temp_path ${root}/proxy;
  fastcgi_temp_path ${root}/fastcgi;
  uwsgi_temp_path ${root}/uwsgi;
  scgi_temp_path ${root}/scgi;
  client_max_body_size 4m;
  client_body_buffer_size 2m;
  proxy_max_temp_file_size 0;
  upstream upstream {
    server ${upstream};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://upstream;
      proxy_http_version 1.1;
      proxy_set_header connection "";
    }
  }
}
`;
}

function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function waitUntilAnswering(url) {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    await answer?.text();
    if (answer?.ok) return;
    if (performance.now() > giveUpAt) throw new Error('nginx did not start');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
