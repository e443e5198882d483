import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFolder } from '../support/temporary-folder.js';

interface LockedPackage {
  readonly link?: boolean;
  readonly version: string;
  readonly dev?: boolean;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
  readonly libc?: readonly string[];
}

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
// Packages of the repository itself are linked, not installed.
const installed = Object.entries(lock.packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? '';

describe('package-lock.json', () => {
  it('lists packages', () => {
    expect(installed.length).to.be.above(100);
  });

  it('has no package that runs code when it is installed', () => {
    const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(running.map(([path]) => path)).to.deep.equal([]);
  });

  it('names no registry', () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).to.deep.equal([]);
  });

  it('has the digest of every package', () => {
    const bare = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
    expect(bare.map(([path]) => path)).to.deep.equal([]);
  });

  it('names the C library of native packages for Linux, so that npm installs one of them', () => {
    const native = installed.filter(([path]) => /linux-.*(?:gnu|musl)/.test(path));
    expect(native.map(([path]) => nameOf(path))).to.include('@libsql/linux-x64-musl');
    for (const [path, { libc }] of native) {
      expect(libc, path).to.deep.equal([path.includes('musl') ? 'musl' : 'glibc']);
    }
  });

  it('allows the running Node.js version in every package', () => {
    const folder = createFolder();
    for (const name of ['package.json', 'package-lock.json']) {
      copyFileSync(name, join(folder, name));
    }
    const args = ['ci', '--dry-run', '--offline', '--engine-strict'];
    execFileSync('npm', args, { cwd: folder, stdio: 'pipe' });
  });
});

describe('npm run sbom', () => {
  let folder: string;
  let text: string;
  let bom: Bom;

  before(() => {
    folder = createFolder();
    const file = join(folder, 'made/sbom.json');
    execFileSync(process.execPath, ['tools/sbom.mjs', file]);
    text = readFileSync(file, 'utf8');
    bom = JSON.parse(text) as Bom;
  });

  it('lists every production dependency of the lock file, and no other', () => {
    const expected = installed
      .filter(([, { dev }]) => !dev)
      .map(([path, { version }]) => `${nameOf(path)}@${version}`);
    const listed = bom.components.map(({ name, version }) => `${name}@${version}`);
    expect([...new Set(listed)].sort()).to.deep.equal([...new Set(expected)].sort());
  });

  it('prints CycloneDX without machine or registry names', () => {
    expect(bom.bomFormat).to.equal('CycloneDX');
    expect(bom.metadata.component.name).to.equal('modgate');
    for (const place of [process.cwd(), homedir(), 'registry', 'tarball', '"distribution"']) {
      expect(text).not.to.include(place === '/' ? '"/' : place);
    }
  });
});
