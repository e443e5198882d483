import type { Socket } from 'node:net';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Actor } from '../../contract/index.js';
import {
  CERTIFICATE_NAMES,
  type CertificateName,
  type CertificateTable,
} from './certificate-file.js';

/** What the certificate of a connection says; `'none'` where it says nothing of an actor. */
export type CertificateVerdict = Actor | 'none' | 'refused';

interface Shown {
  /** `null` when no authority of ours vouches for it. */
  readonly names: readonly string[] | null;
  /** Milliseconds since 1970: a connection may outlive its certificate. */
  readonly validTo: number;
}

/** Who the callers are that show a certificate. It is read once a connection. */
export class ClientCertificates {
  readonly #table: () => CertificateTable;
  readonly #shown = new WeakMap<TLSSocket, Shown | 'none'>();

  constructor(table: () => CertificateTable) {
    this.#table = table;
  }

  verify(socket: Socket): CertificateVerdict {
    if (!(socket instanceof TLSSocket)) return 'none';
    let shown = this.#shown.get(socket);
    if (shown === undefined) {
      shown = readShown(socket);
      this.#shown.set(socket, shown);
    }
    if (shown === 'none') return 'none';
    if (shown.names === null || Date.now() >= shown.validTo) return 'refused';
    const table = this.#table();
    const known = shown.names.find((name) => table.has(name));
    // One that is good and stands for nobody may protect the connection of somebody with a token.
    return (known === undefined ? undefined : table.get(known)) ?? 'none';
  }
}

function readShown(socket: TLSSocket): Shown | 'none' {
  const certificate = socket.getPeerCertificate(true) as DetailedPeerCertificate | null;
  if (certificate === null || certificate.raw === undefined) return 'none';
  const validTo = Date.parse(certificate.valid_to);
  return { names: socket.authorized ? listNames(certificate) : null, validTo };
}

/** All that it is known by, the most exact first. */
function listNames(certificate: DetailedPeerCertificate): string[] {
  const names = readAlternativeNames(certificate.subjectaltname);
  const { CN: commonName } = certificate.subject as { CN?: string | string[] };
  // Of several common names nobody knows which one counts.
  if (typeof commonName === 'string') names.push(['common_name', commonName]);
  names.push(['sha256', certificate.fingerprint256.replaceAll(':', '').toLowerCase()]);
  return CERTIFICATE_NAMES.flatMap((kind) =>
    names.filter(([name]) => name === kind).map(([name, value]) => `${name}:${value}`),
  );
}

const ALTERNATIVE_NAMES: Readonly<Record<string, CertificateName>> = {
  URI: 'uri',
  DNS: 'dns',
  email: 'email',
};

/**
 * Node joins them with `, ` and quotes what could be taken for a separator: where it had to, the names
 * were made to be misread, and none of them counts (CVE-2021-44532).
 */
function readAlternativeNames(text: string | undefined): [CertificateName, string][] {
  if (text === undefined || text.includes('"')) return [];
  return text.split(', ').flatMap((part): [CertificateName, string][] => {
    const colon = part.indexOf(':');
    const kind = ALTERNATIVE_NAMES[part.slice(0, colon)];
    return kind === undefined ? [] : [[kind, part.slice(colon + 1)]];
  });
}
