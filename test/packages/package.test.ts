import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createPackageFolder, type PackageFolder } from '../support/docs/package-folder.js';

const MAX_FILES = 255;
const MAX_BYTES = 4_718_592;
/** A file that bundled code opens, relative to the file that it was before. */
const OPENED = /new URL\(\s*["']([^"']+)["'],\s*new URL\(["']([^"']+)["'],/g;

describe('the package', function () {
  this.timeout(120_000);
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

  after(() => folder.remove());

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
      'lib/plugins/local/thread-entry.js',
    ]);
    expect(opened.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });

  it('exports what its declarations name', async () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, { readonly types: string } | string>>;
    };
    const typed = Object.values(exports).filter((entry) => typeof entry !== 'string');
    expect(typed).to.have.length(3);
    for (const { types } of typed) {
      const code = types.replace(/\.d\.ts$/, '.js');
      const packed = Object.keys(await import(join(root, code)));
      const compiled = Object.keys(await import(join(process.cwd(), code.replace('lib', 'dist'))));
      expect(packed.toSorted()).to.deep.equal(compiled.toSorted());
      expect(existsSync(join(root, types))).to.equal(true);
    }
  });
});
