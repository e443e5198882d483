import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** An empty folder with modgate as it would be published, and without a registry. */
export interface PackageFolder {
  readonly path: string;
  /** Lets another folder below this one find modgate as npm would have installed it there. */
  installInto(folder: string): void;
  remove(): void;
}

/** Packs the files that would be published. Requires a build. The dependencies are those of the checkout. */
export async function createPackageFolder(): Promise<PackageFolder> {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'modgate-package-')));
  await execute('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', path]);
  const [tarball = ''] = readdirSync(path);
  const packages = join(path, 'node_modules');
  mkdirSync(packages);
  await execute('tar', ['-xzf', join(path, tarball), '-C', packages]);
  const modgate = join(packages, 'modgate');
  await execute('mv', [join(packages, 'package'), modgate]);
  symlinkSync(join(process.cwd(), 'node_modules'), join(modgate, 'node_modules'));
  linkCommand(packages, modgate);
  return {
    path,
    installInto: (folder) => {
      const ownModules = join(folder, 'node_modules');
      mkdirSync(ownModules);
      symlinkSync(modgate, join(ownModules, 'modgate'));
      linkCommand(ownModules, modgate);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function linkCommand(packages: string, modgate: string): void {
  mkdirSync(join(packages, '.bin'));
  symlinkSync(join(modgate, 'dist/core/main.js'), join(packages, '.bin/modgate'));
}
