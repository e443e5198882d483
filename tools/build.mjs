// Compiles into dist/ (or the given folder) from scratch: node tools/build.mjs [dist] [--if-changed]
// With --if-changed it does nothing if no source has changed since the last build. tsc emits code only, so
// plugin.json and the templates of a new plugin are copied. Pages for browsers are bundled, core/lib/wasm
// becomes WebAssembly, and the JSON Schemas are derived from the compiled structs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundlePages } from './bundle-pages.mjs';

const SOURCES = [
  'core',
  'plugins',
  'test',
  'tools',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.pages.json',
];

const args = process.argv.slice(2);
const outDir = args.find((arg) => !arg.startsWith('--')) ?? 'dist';
const stampFile = join(outDir, '.sources');
const stamp = digestSources();
const isCurrent = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
if (args.includes('--if-changed') && isCurrent) process.exit(0);

const { default: asc } = await import('assemblyscript/asc');
rmSync(outDir, { recursive: true, force: true });

const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);
const compiled = spawnSync(process.execPath, [tsc, '-p', '.', '--outDir', outDir], {
  stdio: 'inherit',
});
const { error } = await asc.main(
  // No runtime: the code allocates nothing.
  [
    'core/lib/wasm/json-check.ts',
    '-o',
    join(outDir, 'core/lib/wasm/json-check.wasm'),
    '-O3',
    '--noAssert',
    '--initialMemory',
    '1',
  ].concat(['--runtime', 'stub', '--enable', 'simd']),
  { stdout: process.stdout, stderr: process.stderr },
);

const templates = ['plugin', 'surface', 'authenticator', 'signer'].map(
  (name) => `core/cli/new/${name}-template`,
);
for (const folder of ['plugins', ...templates]) {
  cpSync(folder, join(outDir, folder), {
    recursive: true,
    filter: (path) => !/\.(ts|md)$/.test(path) && !/^plugins\/[^/]+\/page$/.test(path),
  });
}
const bin = join(outDir, 'core/main.js');
if (existsSync(bin)) chmodSync(bin, 0o755);
const hasPages = await bundlePages(outDir, tsc);
const isCompiled = error === null && compiled.status === 0 && hasPages;
const schemas = isCompiled
  ? spawnSync(process.execPath, ['tools/write-schemas.mjs', outDir], { stdio: 'inherit' })
  : null;
if (schemas?.status === 0) writeFileSync(stampFile, stamp);
process.exit(schemas?.status ?? 1);

/** Changes with the path, size or time of any source. */
function digestSources() {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const isFolder = statSync(source).isDirectory();
    const paths = isFolder ? readdirSync(source, { recursive: true }).toSorted() : [''];
    for (const path of paths.filter((one) => !one.includes('node_modules'))) {
      const { size, mtimeMs } = statSync(join(source, path));
      hash.update(`${source}/${path} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}
