import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** Writes a folder in the layout of OCI with one image, `latest`, whose only layer is an empty archive. */
export function writeOciImage(folder: string): void {
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  const write = (mediaType: string, content: Buffer | object) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    writeFileSync(join(folder, 'blobs/sha256', digestOf(bytes)), bytes);
    return { mediaType, digest: `sha256:${digestOf(bytes)}`, size: bytes.length };
  };
  const archive = Buffer.alloc(1024);
  const rootfs = { type: 'layers', diff_ids: [`sha256:${digestOf(archive)}`] };
  const config = write(CONFIG, { architecture: 'amd64', os: 'linux', config: {}, rootfs });
  const layers = [write(LAYER, gzipSync(archive))];
  const manifest = write(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers });
  const annotations = { 'org.opencontainers.image.ref.name': 'latest' };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
