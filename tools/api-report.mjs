// Writes docs/contract-api.txt: every declaration behind `modgate/contract` and `modgate/transport`,
// without comments. With --print it goes to stdout instead. A test holds the file, the code and CHANGELOG.md together.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { bundleTypes } from './bundle-types.mjs';

const REPORT = 'docs/contract-api.txt';
const FOLDER = 'core/contract';
const TRANSPORT = 'plugins/shared/transport.ts';

const HEAD = `Every declaration behind modgate/contract, and at the end behind modgate/transport, as tsc emits
it, without comments.
Written by: node tools/api-report.mjs
`;

const report = createReport();
if (process.argv.includes('--print')) {
  process.stdout.write(report);
} else {
  writeFileSync(REPORT, report);
  const digest = createHash('sha256').update(report).digest('hex').slice(0, 12);
  console.log(
    `wrote ${REPORT}; say in CHANGELOG.md under ### Contract what changed (api ${digest})`,
  );
}

function createReport() {
  const outDir = mkdtempSync(join(tmpdir(), 'modgate-api-'));
  try {
    emitDeclarations(FOLDER, `${FOLDER}/index.ts`, outDir);
    const files = readdirSync(outDir).filter((file) => file.endsWith('.d.ts'));
    const exported = files.filter((file) => file !== 'index.d.ts').toSorted();
    assertAllExported(exported, readFileSync(join(outDir, 'index.d.ts'), 'utf8'));
    const parts = exported.map((file) => readDeclarations(join(outDir, file), file));
    return [HEAD, ...parts, readTransport(join(outDir, 'all'))].join('\n');
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** One text, because only the entry is a part of the contract. */
function readTransport(outDir) {
  emitDeclarations('.', TRANSPORT, outDir);
  const contract = join(outDir, FOLDER);
  const text = bundleTypes(
    join(outDir, TRANSPORT.replace(/\.ts$/, '.d.ts')),
    (path) => readFileSync(path, 'utf8'),
    (path) => (relative(contract, path).startsWith('..') ? null : join(contract, 'index.d.ts')),
  );
  return `[modgate/transport]\n${text}`;
}

function emitDeclarations(rootDir, entry, outDir) {
  const tsc = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const flags = ['--declaration', '--emitDeclarationOnly', '--removeComments', '--skipLibCheck'];
  const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--ignoreConfig'];
  const args = [tsc, ...flags, ...target, ...strict, '--rootDir', rootDir, '--outDir', outDir];
  const { status, stdout } = spawnSync(process.execPath, [...args, entry], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`tsc failed:\n${stdout}`);
}

/** A file that the index exports only in part would be in the report but not in the contract. */
function assertAllExported(files, index) {
  const hidden = files.find(
    (file) => !index.includes(`export * from './${file.slice(0, -5)}.js';`),
  );
  if (hidden !== undefined) throw new Error(`${FOLDER}/index.ts must export * from ${hidden}`);
}

/** Imports of siblings say nothing: all of it is in the report. */
function readDeclarations(path, file) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.filter((line) => line !== '' && !/^import .+ from '\.\//.test(line));
  return `[${file.slice(0, -5)}]\n${kept.join('\n')}\n`;
}
