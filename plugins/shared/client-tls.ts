import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls';
import { type Infer, object, refine } from 'superstruct';
import {
  described,
  fileReference,
  type OpenContext,
  optionally,
} from '../../core/contract/index.js';
import { CERTIFICATE_PAIR } from './keywords.js';

/** TLS of a connection to a message broker. */
export const clientTls = described(
  refine(
    object({
      ca: optionally(fileReference(), { description: 'Certificate authorities, PEM.' }),
      cert: optionally(fileReference(), { description: "The host's certificate, PEM." }),
      key: optionally(fileReference(), { description: 'Key of the certificate, PEM.' }),
    }),
    'a mapping with cert and key together, or with neither',
    (value) => (value.cert === undefined) === (value.key === undefined),
  ),
  {
    dependentRequired: CERTIFICATE_PAIR,
    description: "Requires TLS; ca replaces the system's certificate authorities.",
  },
);

/** Certificates and key in PEM. */
export interface ClientCertificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** @throws Error for an invalid certificate or key. */
export function readClientCertificates(
  { ca, cert, key }: Infer<typeof clientTls>,
  file: OpenContext['file'],
): ClientCertificates {
  const read = (reference: string) => Buffer.from(file(reference)).toString();
  const certificates = {
    ...(ca !== undefined && { ca: read(ca) }),
    ...(cert !== undefined && { cert: read(cert) }),
    ...(key !== undefined && { key: read(key) }),
  };
  try {
    createSecureContext(certificates);
  } catch {
    throw new Error('tls must name a CA, a certificate and a key in PEM that belong together');
  }
  return certificates;
}

/** Verifies the host of the URL: for an address, a library may verify another name. */
export function createClientTls(certificates: ClientCertificates, host: string) {
  return {
    ...certificates,
    minVersion: 'TLSv1.2' as const,
    checkServerIdentity: (_name: string, certificate: PeerCertificate) =>
      checkServerIdentity(host, certificate),
  };
}
