import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUNDLE } from '../main-file.js';
import { createFolder } from '../temporary-folder.js';

const execute = promisify(execFile);

const NOT_PACKED = new Set('.git core dist dist-package lib node_modules plugins test'.split(' '));

/** Copies what packages are made of besides the build. */
export function copyPacked(folder: string): void {
  cpSync('.', folder, { recursive: true, filter: (path) => !NOT_PACKED.has(path) });
}

/** An empty folder with modgate as it would be published, and without a registry. */
export interface PackageFolder {
  readonly path: string;
  /** Lets another folder below this one find modgate as npm would have installed it there. */
  installInto(folder: string): void;
}

/** Packs the files that would be published. Requires a build. The dependencies are those of the checkout. */
export async function createPackageFolder(): Promise<PackageFolder> {
  const path = realpathSync(createFolder());
  const tarball = await packModgate(path);
  const packages = join(path, 'node_modules');
  mkdirSync(packages);
  await execute('tar', ['-xzf', tarball, '-C', packages]);
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
  };
}

function linkCommand(packages: string, modgate: string): void {
  mkdirSync(join(packages, '.bin'));
  symlinkSync(join(modgate, 'lib/core/main.js'), join(packages, '.bin/modgate'));
}

/**
 * Packs a copy, because tests that run side by side use lib/, which is a link to the build.
 * @returns the path of the tarball
 */
export async function packModgate(destination: string): Promise<string> {
  const copy = createFolder();
  copyPacked(copy);
  const lib = join(copy, 'lib');
  if (BUNDLE !== null) cpSync(BUNDLE, lib, { recursive: true });
  else await execute(process.execPath, ['tools/bundle-package.mjs', lib]);
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', destination];
  await execute('npm', args, { cwd: copy });
  return join(destination, readdirSync(destination).find((name) => name.endsWith('.tgz')) ?? '');
}
