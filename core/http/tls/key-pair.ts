import { createPrivateKey, X509Certificate } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../../errors.js';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The authorities of client certificates; `null` if none are requested. */
  readonly clientCa: string | null;
}

/** A validated certificate and key of the listener that belong together. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | null;
  readonly certificate: X509Certificate;
  /** Whether users other than the owner may read the key. */
  readonly isKeyExposed: boolean;
}

const OTHERS_MAY_READ = 0o077;

/**
 * @param contents the certificate, the key and the client CA, as {@link listTlsFiles} lists them
 * @throws ConfigError that names the file and the expected content, but never quotes it.
 */
export async function parseTlsPair(
  files: TlsFiles,
  [cert, key, ca = null]: readonly (Buffer | null)[],
): Promise<TlsPair> {
  if (!cert || !key) throw new Error('a certificate and a key are required');
  const certificate = parseCertificate(files.cert, cert);
  if (!certificate.checkPrivateKey(parseKey(files.key, key))) {
    throw new ConfigError(`${files.key} must be the key of the certificate in ${files.cert}`);
  }
  if (ca !== null && files.clientCa !== null) parseCertificate(files.clientCa, ca);
  try {
    createSecureContext({ cert, key, ...(ca !== null && { ca }) });
  } catch {
    // Omits the cause: data derived from a private key must not reach a log.
    throw new ConfigError(`${files.cert} must be PEM that OpenSSL accepts, the chain included`);
  }
  const { mode } = await stat(files.key);
  return { cert, key, ca, certificate, isKeyExposed: (mode & OTHERS_MAY_READ) !== 0 };
}

export function listTlsFiles({ cert, key, clientCa }: TlsFiles): readonly string[] {
  return clientCa === null ? [cert, key] : [cert, key, clientCa];
}

function parseCertificate(file: string, bytes: Buffer): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch {
    throw new ConfigError(`${file} must hold a certificate in PEM`);
  }
}

function parseKey(file: string, bytes: Buffer) {
  try {
    return createPrivateKey(bytes);
  } catch {
    const isEncrypted = /-----BEGIN ENCRYPTED|^Proc-Type: .*ENCRYPTED/m.test(
      bytes.toString('latin1'),
    );
    throw new ConfigError(
      isEncrypted
        ? `${file} is encrypted: store the key without a passphrase, readable by its owner alone`
        : `${file} must hold a private key in PEM`,
    );
  }
}
