import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createPackageFolder, type PackageFolder } from '../support/docs/package-folder.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { listLoadedFiles } from '../support/loaded-files.js';

const MAX_FILES = 250;
const MAX_BYTES = 4_718_592;
/** A file that bundled code opens, relative to the file that it was before. */
const OPENED = /new URL\(\s*["']([^"']+)["'],\s*new URL\(["']([^"']+)["'],/g;
/** The innermost package of a file. */
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** Code for stores, issuers, traces, YAML and the other commands. */
const OF_FEW_HOSTS = /\/(?:sqlite|postgres|otlp|issuers|yaml)[^/]*$|\/cli\/on-demand\.js$/;

describe('the package', () => {
  let folder: PackageFolder;
  let root: string;
  let files: readonly string[];

  before(async () => {
    folder = await createPackageFolder();
    root = join(folder.path, 'node_modules/modgate');
    files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (path) => !path.startsWith('node_modules') && statSync(join(root, path)).isFile(),
    );
  });

  it('is small', () => {
    const bytes = files.map((path) => statSync(join(root, path)).size);
    expect(files.length).to.be.within(100, MAX_FILES);
    expect(bytes.reduce((sum, size) => sum + size)).to.be.below(MAX_BYTES);
  });

  it('has no test, no source and no source map', () => {
    const surplus = files.filter((path) => /\.map$|(?<!\.d)\.tsx?$|(^|\/)test\//.test(path));
    expect(surplus).to.deep.equal([]);
  });

  it('has each file that its code opens', () => {
    const opened = files
      .filter((path) => path.startsWith('lib/') && path.endsWith('.js'))
      // Long strings go on in the next line.
      .map((path) => readFileSync(join(root, path), 'utf8').replaceAll('\\\n', ''))
      .flatMap((text) => [...text.matchAll(OPENED)])
      .map(([, url = '', place = '']) => join(dirname(place), url));
    expect(opened).to.include.members([
      'lib/core/manifest/parse-worker.js',
      'lib/core/lib/wasm/json-check.wasm',
      'lib/core/lib/wasm/unit-ends.wasm',
      'lib/plugins/local/thread-entry.js',
    ]);
    expect(opened.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });

  it('exports what its declarations name', async () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, { readonly types: string } | string>>;
    };
    const typed = Object.values(exports).filter((entry) => typeof entry !== 'string');
    expect(typed).to.have.length(4);
    for (const { types } of typed) {
      const code = types.replace(/\.d\.ts$/, '.js');
      const packed = Object.keys(await import(join(root, code)));
      const compiled = Object.keys(await import(join(process.cwd(), code.replace('lib', 'dist'))));
      expect(packed.toSorted()).to.deep.equal(compiled.toSorted());
      expect(existsSync(join(root, types))).to.equal(true);
    }
  });

  it('has declarations that compile', () => {
    const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc');
    const declared = ['contract', 'testkit', 'client']
      .map((name) => join(root, `lib/core/${name}/index.d.ts`))
      .concat(join(root, 'lib/plugins/shared/transport.d.ts'));
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node'];
    const roots = ['--typeRoots', join(process.cwd(), 'node_modules/@types'), '--ignoreConfig'];
    const args = [tsc, ...flags, ...roots, ...declared];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout).to.equal('');
  });

  it('loads at a start and stop what is packed, and nothing that only other hosts need', async () => {
    const modules = join(folder.path, 'modules.d');
    mkdirSync(modules);
    const module = describeModule('crm', 'http://127.0.0.1:9', toRoutes(['GET /items'], 'use'));
    writeFileSync(join(modules, 'crm.json'), JSON.stringify(module));
    writeFileSync(join(folder.path, 'tokens.json'), '{"tokens":[]}', { mode: 0o600 });
    const loaded = await listLoadedFiles(folder.path, {}, async (env) => {
      const main = join(root, 'lib/core/main.js');
      const args = ['serve', '--env', 'production', '--port', '0', '--tokens', 'tokens.json'];
      const host = spawn(process.execPath, [main, ...args], {
        ...{ cwd: folder.path, stdio: ['ignore', 'pipe', 'inherit'] },
        env: { PATH: process.env['PATH'], ...env },
      });
      for await (const text of host.stdout) if (String(text).includes('"listening"')) break;
      host.kill();
      const [code] = await once(host, 'exit');
      expect(code).to.equal(0);
    });
    const packages = loaded.flatMap((url) => PACKAGE.exec(url)?.[1] ?? []);
    expect([...new Set(packages)]).to.deep.equal(['modgate']);
    expect(loaded.filter((url) => url.endsWith('/core/packages.js'))).to.have.length(1);
    expect(loaded.filter((url) => OF_FEW_HOSTS.test(url))).to.deep.equal([]);
  });
});
