// What the check of an input schema costs: CPU time of a POST of 1 KiB with 20 fields, with and without a
// schema, in turns on one host.
// node bench/schemas.mjs [folder of the build, default dist]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Pool } from 'undici';

const ROUNDS = 7;
const REQUESTS = 4000;
const WARM_UP = 10_000;
const CONNECTIONS = 16;
const TICKS_PER_SECOND = 100;

const KINDS = [
  [{ type: 'string', minLength: 1, maxLength: 80 }, (at) => `value number ${at} of the record`],
  [{ type: 'integer', minimum: 0 }, (at) => at * 1000],
  [{ type: 'string', pattern: '^[a-z0-9-]{1,64}$' }, (at) => `record-${at}-of-the-catalogue`],
  [{ enum: ['draft', 'active', 'archived'] }, () => 'active'],
  [{ type: 'array', items: { type: 'string' }, maxItems: 8 }, (at) => ['tag', `tag-${at}`]],
];

const fields = Array.from({ length: 20 }, (_, at) => [`field_${at}`, ...KINDS[at % KINDS.length]]);
const schema = {
  type: 'object',
  required: fields.slice(0, 10).map(([name]) => name),
  properties: Object.fromEntries(fields.map(([name, kind]) => [name, kind])),
  additionalProperties: false,
};
const record = Object.fromEntries(fields.map(([name, , create], at) => [name, create(at)]));
record.field_0 = record.field_0.padEnd(80, 'x');
const padding = 1024 - JSON.stringify(record).length;
const body = JSON.stringify(record) + ' '.repeat(Math.max(0, padding));

const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
}).listen(0, '127.0.0.1');
await once(provider, 'listening');

const folder = mkdtempSync(join(tmpdir(), 'modgate-bench-'));
const route = (path, operation) => ({ method: 'POST', path, capability: 'a', operation });
const descriptor = {
  module: 'a',
  provider: { kind: 'http', config: { endpoints: [`http://127.0.0.1:${provider.address().port}`] } },
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: 'a',
      capabilities: ['a'],
      http_routes: [route('/plain', {}), route('/checked', { input_schema: schema })],
    },
  },
};
writeFileSync(join(folder, 'a.json'), JSON.stringify(descriptor));
const main = resolve(process.argv[2] ?? 'dist', 'core/main.js');
const args = ['serve', '--modules', folder, '--state', join(folder, 'state'), '--port', '0'];
const host = spawn(process.execPath, [main, ...args, '--env', 'development', '--log-success-sample', '0']);
host.stderr.pipe(process.stderr);
let pool;
try {
  pool = new Pool(await readUrl(host), { connections: CONNECTIONS });
  for (const path of ['/plain', '/checked']) await send(path, WARM_UP);
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const plain = await measure('/plain');
    const checked = await measure('/checked');
    ratios.push(checked / plain);
    process.stdout.write(`${plain.toFixed(1)} µs without, ${checked.toFixed(1)} µs with a schema\n`);
  }
  ratios.sort((a, b) => a - b);
  process.stdout.write(`ratio, median of ${ROUNDS}: ${ratios[(ROUNDS - 1) / 2].toFixed(3)}\n`);
} finally {
  await pool?.close();
  host.kill();
  provider.close();
  provider.closeAllConnections();
  await once(host, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

/** CPU microseconds of the host per request. */
async function measure(path) {
  const before = readCpuSeconds();
  await send(path, REQUESTS);
  return ((readCpuSeconds() - before) / REQUESTS) * 1e6;
}

function readCpuSeconds() {
  const text = readFileSync(`/proc/${host.pid}/stat`, 'latin1');
  const values = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(values[11]) + Number(values[12])) / TICKS_PER_SECOND;
}

async function send(path, count) {
  const headers = { authorization: 'Bearer dev-system:b', 'content-type': 'application/json' };
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const target = `/modules/a/http${path}`;
      const response = await pool.request({ path: target, method: 'POST', headers, body });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`${path} responded ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

function readUrl({ stdout }) {
  let text = '';
  return new Promise((found) => {
    stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const url = /"url":"([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) found(url);
    });
  });
}
