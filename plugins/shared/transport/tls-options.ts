import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  type ConnectionOptions,
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  checkServerIdentity as verifyName,
} from 'node:tls';
import type { TlsConfig } from './transport-config.js';

type ReadFile = (reference: string) => Uint8Array;

/**
 * Creates the options for all connections of one provider. Verification cannot be disabled, not
 * even by `NODE_TLS_REJECT_UNAUTHORIZED`. They offer no protocol (ALPN): that is for the kind to add.
 * @throws Error when a file does not contain what its key requires.
 */
export function createTlsOptions(config: TlsConfig, readFile: ReadFile): ConnectionOptions {
  const pins = config.pin_sha256 === undefined ? [] : [config.pin_sha256].flat();
  return {
    secureContext: createContext(config, readFile),
    rejectUnauthorized: true,
    checkServerIdentity: (hostname, certificate) =>
      verifyName(hostname, certificate) ?? verifyPin(pins, certificate),
    ...(config.servername !== undefined && { servername: config.servername }),
  };
}

function createContext(config: TlsConfig, readFile: ReadFile): SecureContext {
  const ca = readCertificate('tls.ca', config.ca, readFile);
  const cert = readCertificate('tls.cert', config.cert, readFile);
  const key = readKey(config.key, readFile);
  if (cert && key && !cert.parsed.checkPrivateKey(key.parsed)) {
    throw new Error('tls.key must belong to tls.cert');
  }
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(ca && { ca: ca.bytes }),
      ...(cert && key && { cert: cert.bytes, key: key.bytes }),
    });
  } catch (cause) {
    throw new Error('tls.ca, tls.cert and tls.key must be PEM that OpenSSL accepts', { cause });
  }
}

function readCertificate(
  name: string,
  reference: string | undefined,
  readFile: ReadFile,
): { bytes: Buffer; parsed: X509Certificate } | undefined {
  if (reference === undefined) return undefined;
  const bytes = Buffer.from(readFile(reference));
  try {
    return { bytes, parsed: new X509Certificate(bytes) };
  } catch (cause) {
    throw new Error(`${name} must hold a certificate in PEM`, { cause });
  }
}

function readKey(
  reference: string | undefined,
  readFile: ReadFile,
): { bytes: Buffer; parsed: KeyObject } | undefined {
  if (reference === undefined) return undefined;
  const bytes = Buffer.from(readFile(reference));
  try {
    return { bytes, parsed: createPrivateKey(bytes) };
  } catch {
    // Omits the cause, which may contain parts of the key.
    throw new Error('tls.key must hold a private key in PEM without a passphrase');
  }
}

/** Pins the hash of the SubjectPublicKeyInfo, which a renewed certificate keeps (RFC 7469, 2.4). */
function verifyPin(pins: readonly string[], certificate: PeerCertificate): Error | undefined {
  if (pins.length === 0) return undefined;
  const spki = new X509Certificate(certificate.raw).publicKey.export({
    type: 'spki',
    format: 'der',
  });
  const pin = createHash('sha256').update(spki).digest('base64');
  if (pins.includes(pin)) return undefined;
  return Object.assign(new Error("the peer's public key is not pinned"), { code: 'ERR_TLS_PIN' });
}
