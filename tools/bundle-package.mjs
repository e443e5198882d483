// Bundles dist/ into lib/ (or the given folder), which `npm pack` packs: node
// tools/bundle-package.mjs [lib]. The contract is one module for the host, its plugins and those of
// others; each plugin, each thread and the test kit is one more file. Names of functions stay and lines
// are short, so that stack traces can be read.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, stop } from 'esbuild-wasm';
import { minify } from 'terser';
import { bundleTypes } from './bundle-types.mjs';

const DIST = resolve('dist');
/** The folder in the package. */
const LIB = 'lib';
const outDir = process.argv[2] ?? LIB;
const CONTRACT = 'core/contract/index.js';
const TESTKIT = 'core/testkit/index.js';
const CLIENT = 'core/client/index.js';
const TRANSPORT = 'plugins/shared/transport.js';
/** One file for all modules that `TRANSPORT` imports, for the shipped plugins as well. */
const WHOLE_TRANSPORT = 'plugins/shared/all.js';
/** The largest thread. */
const PARSE_WORKER = 'core/manifest/parse-worker.js';
/** One file for all modules of the contract, of which `CONTRACT` exports a part. */
const WHOLE_CONTRACT = 'core/contract/all.js';
/** Files beside the code that it opens by URL. */
const OPENED = /\.wasm$|\/templates\.json$|\/plugin\.json$|\/web\/|^core\/schemas\//;
const URL_OF_FILE = /new URL\(\s*['"](\.[^'"]+\.js)['"],\s*import\.meta\.url/g;

/** Have an ES module that Node.js does not find, or are of few hosts and have many files. */
const BUNDLED = ['jsonc-parser', 'kysely'];
/**
 * Of every start, in one file of the host, and one for threads and plugins as well: two hundred files
 * cost time. Never compare the classes of superstruct with `instanceof`: plugins of others load a
 * second copy.
 */
const COMMON_PACKAGES = {
  'core/packages.js': [
    // Before tsyringe, which needs it.
    'reflect-metadata',
    '@koa/router',
    'commander',
    'http-cache-semantics',
    'koa',
    'pino',
    'tsyringe',
  ],
  'core/lib/packages.js': ['fastest-levenshtein', 'lru-cache', 'superstruct'],
};
const common = await listExports(COMMON_PACKAGES);
const COMMON = new RegExp(`^(${[...common.keys()].join('|')})$`);
/** Loads its package, and in the package that as one file beside it. */
const YAML = 'core/document/yaml-errors.js';
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
const FORMAT = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  lineLimit: 120,
};
const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const EXTERNAL = Object.keys({ ...dependencies, ...peerDependencies }).filter(
  (name) => !BUNDLED.includes(name) && !COMMON.test(name),
);

const files = readdirSync(DIST, { recursive: true })
  .filter((path) => /^(core|plugins)\//.test(path))
  .toSorted();
const read = (path) => readFileSync(join(DIST, path), 'utf8');

/** Imported for what few hosts need, or by `main.js`, which does something before. */
const SEPARATE =
  /\/(sqlite-database|postgres-(?:connection|database)|otlp-tracing|issuers|metrics-snapshot|run-cli|write-stdout)\.js$/;
const IMPORT = /import\('(\.[^']+\.js)'\)/g;
const COMMAND_IMPORT = /import\(`\.\/commands\/\$\{name\}\.js`\)/;
const SERVE = 'core/cli/commands/serve.js';
const PRIMARY = 'core/cluster/primary.js';

/** What else is imported on demand is two files: one for hosts, one for commands. */
const groups = {
  'core/on-demand.js': (path) => !path.startsWith('core/cli/'),
  'core/cli/on-demand.js': (path) => path.startsWith('core/cli/'),
};
const onDemand = listOnDemand();
const transportParts = listImported(TRANSPORT);

/** Modules that exist in the package only, by path. */
const MADE = {
  [WHOLE_CONTRACT]: listCode('core/contract')
    .filter((name) => name !== 'index.js')
    .map((name) => `export * from './${name}';`)
    .join(''),
  [CONTRACT]: `export { ${Object.keys(await import(join(DIST, CONTRACT)))} } from './all.js'`,
  [WHOLE_TRANSPORT]: transportParts
    .map((path) => `export * from ${refer(WHOLE_TRANSPORT, path)};`)
    .join(''),
  [TRANSPORT]: `export { ${Object.keys(await import(join(DIST, TRANSPORT)))} } from './all.js'`,
  ...Object.fromEntries(
    Object.entries(groups).map(([group, includes]) => [
      group,
      onDemand
        .filter(includes)
        .map((path) => `export * as ${JSON.stringify(path)} from ${refer(group, path)};`)
        .join(''),
    ]),
  ),
};

/** Of the list of media types, what has an extension or a charset: nothing looks for others. */
const MEDIA_TYPES = {
  name: 'media-types',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/mime-db\/db\.json$/ }, ({ path }) => {
      const all = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
      const found = all.filter(([, one]) => one.extensions ?? one.charset);
      const text = JSON.stringify(JSON.stringify(Object.fromEntries(found)));
      return { contents: `module.exports = JSON.parse(${text})` };
    }),
};

rmSync(outDir, { recursive: true, force: true });
await bundlePackages();
await bundle([WHOLE_CONTRACT]);
const coreEntries = ['core/main.js', PARSE_WORKER];
const alone = listThreadEntries().filter((entry) => entry !== PARSE_WORKER);
for (const entry of [CONTRACT, TESTKIT, CLIENT, ...alone])
  await bundle([entry], { from: dirname(entry) });
await bundle(coreEntries, { from: 'core', chunks: 'core', nameOutput: nameInCore });
for (const entry of coreEntries.slice(1)) {
  const code = JSON.stringify(`${relative(dirname(entry), nameInCore(entry))}.js`);
  write(join(outDir, entry), `export * from ${code};\n`);
}
await bundle([WHOLE_TRANSPORT], { from: dirname(WHOLE_TRANSPORT) });
await bundle([TRANSPORT, ...listPluginEntries()], {
  from: dirname(TRANSPORT),
  chunks: 'plugins/shared',
  shared: transportParts,
});
await stop();
for (const path of files.filter((one) => OPENED.test(one))) {
  if (path.endsWith('.json')) write(join(outDir, path), JSON.stringify(JSON.parse(read(path))));
  else cpSync(join(DIST, path), join(outDir, path), { recursive: true });
}
for (const entry of [CONTRACT, TESTKIT, CLIENT, TRANSPORT]) writeTypes(toTypes(entry));

/** All output is in one folder, because chunks refer to the contract by a relative path. */
function nameInCore(entry) {
  return entry.replace(/\.js$/, '').replace(/(?<!^core)\//g, '-');
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}

/**
 * @param from the folder of what imports the contract; `null` for the contract itself
 * @param chunks the folder for what several entries share, or import on demand; `null` for none
 * @param shared the modules that are imported from `WHOLE_TRANSPORT`
 * @param nameOutput the path of an entry's output without its extension
 */
async function bundle(
  entries,
  {
    from = null,
    chunks = null,
    shared = [],
    nameOutput = (entry) => entry.replace(/\.js$/, ''),
  } = {},
) {
  const shares = from === null ? [] : [shareContract(from), shareTransport(shared)];
  const { outputFiles } = await build({
    ...FORMAT,
    entryPoints: entries.map((entry) => ({ in: join(DIST, entry), out: nameOutput(entry) })),
    outdir: outDir,
    write: false,
    chunkNames: `${chunks}/[name]-[hash]`,
    splitting: chunks !== null,
    packages: 'bundle',
    mainFields: ['module', 'main'],
    external: EXTERNAL,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [
      ...shares,
      sharePackages(from ?? dirname(WHOLE_CONTRACT)),
      { name: 'sources', setup: loadSources },
    ],
  });
  for (const { path, text } of outputFiles) write(path, await shortenLocals(text));
}

/** Names of functions and classes stay, lines are short: places in stack traces can be read. */
async function shortenLocals(text) {
  const { code } = await minify(text, {
    module: true,
    compress: false,
    mangle: { keep_classnames: true, keep_fnames: true },
    format: { max_line_len: 120 },
  });
  return code;
}

/** The contract has its declarations once, and others import them. */
function writeTypes(entry) {
  const contract = toTypes(CONTRACT);
  const findShared = (path) =>
    entry !== contract && dirname(path) === dirname(contract) ? contract : null;
  write(join(outDir, entry), bundleTypes(entry, read, findShared));
}

function toTypes(path) {
  return path.replace(/\.js$/, '.d.ts');
}

/** A bundled file is elsewhere than its source, relative to which it opens others by URL. */
function loadSources({ onResolve, onLoad }) {
  const made = new Map(Object.entries(MADE).map(([path, text]) => [join(DIST, path), text]));
  onResolve({ filter: /^[./]/ }, ({ path, resolveDir }) => {
    const full = resolve(resolveDir, path);
    return made.has(full) ? { path: full } : undefined;
  });
  onLoad({ filter: /\.js$/ }, ({ path }) => {
    const text = made.get(path) ?? readFileSync(path, 'utf8');
    const from = relative(DIST, path);
    const place = JSON.stringify(join(LIB, from));
    const url = `new URL(${place}, import.meta.resolve('modgate/package.json')).href`;
    const own = from === YAML ? text.replace("require('yaml')", "require('./yaml.cjs')") : text;
    const contents = groupImports(from, own.replaceAll('import.meta.url', url));
    return { contents, loader: 'js', resolveDir: dirname(path) };
  });
}

/** Imports of any module of the contract become imports of its one file. */
function shareContract(from) {
  const folder = join(DIST, 'core/contract');
  const path = `./${relative(from, WHOLE_CONTRACT)}`;
  return {
    name: 'contract',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\./ }, ({ path: imported, resolveDir }) =>
        dirname(resolve(resolveDir, imported)) === folder ? { path, external: true } : undefined,
      ),
  };
}

/** Imports of these modules become imports of the one file that holds all of them. */
function shareTransport(parts) {
  const paths = new Set([TRANSPORT, WHOLE_TRANSPORT, ...parts].map((path) => join(DIST, path)));
  // The outputs of all plugins are in folders beside it.
  const path = `../${relative('plugins', WHOLE_TRANSPORT)}`;
  return {
    name: 'transport',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\./ }, ({ path: imported, resolveDir }) =>
        parts.length > 0 && paths.has(resolve(resolveDir, imported))
          ? { path, external: true }
          : undefined,
      ),
  };
}

/** The modules of plugins that a module imports, itself or through others. */
function listImported(entry, known = new Set()) {
  for (const [, url] of read(entry).matchAll(/from '(\.[^']+\.js)'/g)) {
    const path = join(dirname(entry), url);
    if (!path.startsWith('plugins/') || known.has(path)) continue;
    known.add(path);
    listImported(path, known);
  }
  return [...known].toSorted();
}

/** A start needs `serve`, and often the primary: they are part of the first file. */
function groupImports(from, text) {
  const importGroup = (path) => {
    const [group] = Object.entries(groups).find(([, includes]) => includes(path));
    return `import(${refer(from, group)}).then((all) => all[${JSON.stringify(path)}])`;
  };
  const grouped = text.replace(IMPORT, (whole, url) => {
    const path = join(dirname(from), url);
    if (path === PRIMARY) return 'primary';
    return onDemand.includes(path) ? importGroup(path) : whole;
  });
  if (from === SERVE) return `import * as primary from ${refer(from, PRIMARY)};${grouped}`;
  if (!COMMAND_IMPORT.test(text)) return grouped;
  const command = importGroup('core/cli/commands/NAME.js').replace('NAME', '" + name + "');
  return `import * as serve from ${refer(from, SERVE)};`.concat(
    grouped.replace(COMMAND_IMPORT, () => `(name === 'serve' ? serve : ${command})`),
  );
}

/** The file and the exported names of each package. */
async function listExports(files) {
  const packages = Object.entries(files).flatMap(([file, paths]) =>
    paths.map(async (path) => {
      const names = Object.keys(await import(path)).filter((key) => /^[a-z]\w*$/i.test(key));
      return [path, { file, names }];
    }),
  );
  return new Map(await Promise.all(packages));
}

/** The modules that the code imports on demand. */
function listOnDemand() {
  const imported = listReferred(IMPORT, (path) => path.startsWith('core/'));
  const commands = listCode('core/cli/commands').map((name) => `core/cli/commands/${name}`);
  return [...new Set([...imported, ...commands])].filter(
    (path) => path !== SERVE && path !== PRIMARY && !SEPARATE.test(path),
  );
}

/** The literal by which one file imports another. */
function refer(from, path) {
  const url = relative(dirname(from), path);
  return JSON.stringify(url.startsWith('.') ? url : `./${url}`);
}

function listCode(folder) {
  return readdirSync(join(DIST, folder))
    .filter((name) => name.endsWith('.js'))
    .toSorted();
}

function listPluginEntries() {
  return files
    .filter((path) => path.endsWith('/plugin.json'))
    .map((path) => join(dirname(path), JSON.parse(read(path)).entry));
}

/** Imports of these packages become imports of their file. */
function sharePackages(from) {
  return {
    name: 'packages',
    setup({ onResolve, onLoad }) {
      const namespace = 'packages';
      onResolve({ filter: COMMON }, ({ path }) => ({ path, namespace }));
      onResolve({ filter: /^\./, namespace }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: COMMON, namespace }, ({ path }) => ({
        contents: `export { ${renameExports(path, (name, own) => `${name} as ${own}`)} }
          from './${relative(from, common.get(path).file)}'`,
      }));
    },
  };
}

/** Writes the common packages, and the library of YAML. */
async function bundlePackages() {
  const shared = { ...FORMAT, minify: true, legalComments: 'none' };
  for (const [file, names] of Object.entries(COMMON_PACKAGES)) {
    const contents = names.map(
      (path) =>
        `export { ${renameExports(path, (name, own) => `${own} as ${name}`)} } from '${path}'`,
    );
    await build({
      ...shared,
      stdin: { contents: contents.join(';'), resolveDir: '.', sourcefile: 'packages.mjs' },
      outfile: join(outDir, file),
      alias: { 'mime-db': 'mime-db' },
      plugins: [MEDIA_TYPES],
      banner: { js: REQUIRE },
    });
  }
  await build({
    ...shared,
    entryPoints: ['yaml'],
    format: 'cjs',
    outfile: join(outDir, dirname(YAML), 'yaml.cjs'),
  });
}

/** @param rename gets the name in the common file, and that in the package */
function renameExports(path, rename) {
  const prefix = path.replace(/\W/g, '_');
  return common.get(path).names.map((own) => rename(`${prefix}_${own}`, own));
}

/** The code of threads and processes, which is opened by URL. */
function listThreadEntries() {
  const isPacked = (path) => !/^plugins\/.*\/testkit\.js$/.test(path);
  const found = listReferred(URL_OF_FILE, isPacked);
  return [...new Set(found)].filter((path) => path !== 'core/main.js');
}

/** The files that the pattern finds in the code. */
function listReferred(pattern, includes) {
  return files
    .filter((path) => path.endsWith('.js') && includes(path))
    .flatMap((path) =>
      [...read(path).matchAll(pattern)].map(([, url]) => join(dirname(path), url)),
    );
}
