// Compiles into dist/ (or the folder given) from scratch; tsc emits code only, so plugin.json and the
// templates of a new plugin are copied beside it. core/lib/wasm becomes WebAssembly. The JSON Schemas
// are derived from the compiled structs.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import asc from 'assemblyscript/asc';

const outDir = process.argv[2] ?? 'dist';
rmSync(outDir, { recursive: true, force: true });

const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);
const compiled = spawnSync(process.execPath, [tsc, '-p', '.', '--outDir', outDir], {
  stdio: 'inherit',
});
const { error } = await asc.main(
  // No runtime: what stands there allocates nothing.
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

for (const folder of ['plugins', 'core/cli/new/plugin-template']) {
  cpSync(folder, join(outDir, folder), {
    recursive: true,
    filter: (path) => !/\.(ts|md)$/.test(path),
  });
}
const bin = join(outDir, 'core/main.js');
if (existsSync(bin)) chmodSync(bin, 0o755);
const isCompiled = error === null && compiled.status === 0;
const schemas = isCompiled
  ? spawnSync(process.execPath, ['tools/write-schemas.mjs', outDir], { stdio: 'inherit' })
  : null;
process.exit(schemas?.status ?? 1);
