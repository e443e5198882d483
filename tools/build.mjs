// Compiles what has changed into dist/ (or the given folder): node tools/build.mjs [dist] [--if-changed | --watch]
// With --if-changed it does nothing if no source has changed since the last build, with --watch it builds
// after each change, until it is interrupted. tsc emits code only, so
// plugin.json is copied, and the templates of new plugins become one file. Pages for browsers are bundled, core/lib/wasm
// becomes WebAssembly, and the JSON Schemas are derived from the compiled structs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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

/** A poll, because editors and tools replace files in many ways. Milliseconds. */
const WATCH_INTERVAL_MS = 1000;

/** A folder of files for each kind of plugin. */
const TEMPLATES = 'core/cli/new/templates';

const args = process.argv.slice(2);
const outDir = args.find((arg) => !arg.startsWith('--')) ?? 'dist';
const stampFile = join(outDir, '.sources');
const stamp = digestSources();
const isCurrent = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
// The package exports lib/: here the build itself, in the package its bundle.
if (outDir === 'dist') linkLib();
if (args.includes('--if-changed') && isCurrent) process.exit(0);

if (args.includes('--watch')) await buildAfterChanges();

const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);
removeOrphans(outDir);
const compiled = spawnSync(
  process.execPath,
  [tsc, '-p', '.', '--outDir', outDir, '--incremental'].concat([
    '--tsBuildInfoFile',
    join(outDir, '.tsbuildinfo'),
  ]),
  { stdio: 'inherit' },
);
const hasWasm = await compileWasm('core/lib/wasm', outDir);
cpSync('plugins', join(outDir, 'plugins'), { recursive: true, filter: isCopied });
writeFileSync(join(outDir, `${TEMPLATES}.json`), JSON.stringify(readTemplates()));
const bin = join(outDir, 'core/main.js');
if (existsSync(bin)) chmodSync(bin, 0o755);
const hasPages = await bundlePages(outDir, tsc);
const isCompiled = hasWasm && compiled.status === 0 && hasPages;
const schemas = isCompiled
  ? spawnSync(process.execPath, ['tools/write-schemas.mjs', outDir], { stdio: 'inherit' })
  : null;
if (schemas?.status === 0) writeFileSync(stampFile, stamp);
process.exit(schemas?.status ?? 1);

/** Builds in a process of its own after each change; never returns. */
async function buildAfterChanges() {
  let last = null;
  for (;;) {
    const current = digestSources();
    if (current !== last) {
      last = current;
      const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), outDir], {
        stdio: 'inherit',
      });
      console.log(status === 0 ? 'built' : 'not built: see the errors above');
    }
    await pause(WATCH_INTERVAL_MS);
  }
}

/** Keeps a link: a running host may resolve through it. */
function linkLib() {
  if (lstatSync('lib', { throwIfNoEntry: false })?.isSymbolicLink()) return;
  rmSync('lib', { recursive: true, force: true });
  symlinkSync('dist', 'lib', 'junction');
}

/** Compiles the modules anew whose source is newer. @returns whether they have no errors. */
async function compileWasm(folder, outDir) {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.ts'))) {
    const source = join(folder, name);
    const target = join(outDir, source.replace(/\.ts$/, '.wasm'));
    if (existsSync(target) && statSync(target).mtimeMs > statSync(source).mtimeMs) continue;
    const { default: asc } = await import('assemblyscript/asc');
    const { error } = await asc.main(
      // No runtime: the code allocates nothing.
      [source, '-o', target, '-O3', '--noAssert', '--initialMemory', '1'].concat([
        '--runtime',
        'stub',
        '--enable',
        'simd',
      ]),
      { stdout: process.stdout, stderr: process.stderr },
    );
    if (error !== null) return false;
  }
  return true;
}

/** Removes compiled and copied files whose source no longer exists. */
function removeOrphans(outDir) {
  if (!existsSync(outDir)) return;
  for (const path of readdirSync(outDir, { recursive: true })) {
    const source = path.replace(/(\.d\.ts|\.js\.map|\.js)$/, '.ts');
    const isOurs = /^(core|plugins|test|tools)\//.test(path);
    const isMade = /^plugins\/[^/]+\/web(\/|$)|^core\/schemas(\/|$)|\/templates\.json$/.test(path);
    if (!isOurs || isMade || existsSync(source) || existsSync(path)) continue;
    if (path.endsWith('.wasm') && existsSync(path.replace(/wasm$/, 'ts'))) continue;
    rmSync(join(outDir, path), { recursive: true, force: true });
  }
}

/** The texts of the templates of each kind, by path. */
function readTemplates() {
  const texts = {};
  for (const path of readdirSync(TEMPLATES, { recursive: true }).toSorted()) {
    const [kind, ...rest] = path.split(/[\\/]/);
    if (!path.endsWith('.template')) continue;
    texts[kind] ??= {};
    texts[kind][rest.join('/').slice(0, -'.template'.length)] = readFileSync(
      join(TEMPLATES, path),
      'utf8',
    );
  }
  return texts;
}

function isCopied(path) {
  return !/\.(ts|md)$/.test(path) && !/^plugins\/[^/]+\/page$/.test(path);
}

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
