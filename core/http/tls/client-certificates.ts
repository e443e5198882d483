import type { Socket } from 'node:net';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Roles } from '../../auth/roles.js';
import type { Actor } from '../../contract/index.js';
import {
  CERTIFICATE_NAMES,
  type CertificateName,
  type CertificateTable,
  formatCertificateName,
} from './certificate-file.js';

/** `'none'`: no certificate, or one without an actor. `'rejected'`: an invalid certificate. */
type CertificateResult = Actor | 'none' | 'rejected';

interface ClientCertificate {
  /** `null` when no trusted authority issued it. */
  readonly names: readonly string[] | null;
  /** Milliseconds since 1970: a connection may outlive its certificate. */
  readonly validTo: number;
}

/** Maps client certificates to actors. A certificate is read once per connection. */
export class ClientCertificates {
  readonly #table: () => CertificateTable;
  readonly #roles: Roles;
  readonly #bySocket = new WeakMap<TLSSocket, ClientCertificate | 'none'>();

  /** @param roles add their scopes to the actors of certificates */
  constructor(table: () => CertificateTable, roles: Roles) {
    this.#table = table;
    this.#roles = roles;
  }

  verify(socket: Socket): CertificateResult {
    if (!(socket instanceof TLSSocket)) return 'none';
    let certificate = this.#bySocket.get(socket);
    if (certificate === undefined) {
      certificate = readCertificate(socket);
      this.#bySocket.set(socket, certificate);
    }
    if (certificate === 'none') return 'none';
    if (certificate.names === null || Date.now() >= certificate.validTo) return 'rejected';
    const table = this.#table();
    const matchingName = certificate.names.find((name) => table.has(name));
    // A valid certificate without an actor may only secure the connection; the caller then sends a token.
    const actor = matchingName === undefined ? undefined : table.get(matchingName);
    return actor === undefined ? 'none' : this.#roles.resolve(actor, 'certificates');
  }
}

function readCertificate(socket: TLSSocket): ClientCertificate | 'none' {
  const certificate = socket.getPeerCertificate(true) as DetailedPeerCertificate | null;
  if (certificate === null || certificate.raw === undefined) return 'none';
  const validTo = Date.parse(certificate.valid_to);
  return { names: socket.authorized ? listNames(certificate) : null, validTo };
}

/** All names of the certificate, the most specific first. */
function listNames(certificate: DetailedPeerCertificate): string[] {
  const names = readAlternativeNames(certificate.subjectaltname);
  const { CN: commonName } = certificate.subject as { CN?: string | string[] };
  // With several common names it is undefined which one is valid.
  if (typeof commonName === 'string') names.push(['common_name', commonName]);
  names.push(['sha256', certificate.fingerprint256.replaceAll(':', '').toLowerCase()]);
  return CERTIFICATE_NAMES.flatMap((kind) =>
    names.filter(([name]) => name === kind).map(([, value]) => formatCertificateName(kind, value)),
  );
}

const ALTERNATIVE_NAMES: Readonly<Record<string, CertificateName>> = {
  URI: 'uri',
  DNS: 'dns',
  email: 'email',
};

/**
 * Node joins names with `, ` and quotes a name that contains a separator. Such names are crafted to
 * be misread, so none of them is accepted (CVE-2021-44532).
 */
function readAlternativeNames(text: string | undefined): [CertificateName, string][] {
  if (text === undefined || text.includes('"')) return [];
  return text.split(', ').flatMap((part): [CertificateName, string][] => {
    const colon = part.indexOf(':');
    const kind = ALTERNATIVE_NAMES[part.slice(0, colon)];
    return kind === undefined ? [] : [[kind, part.slice(colon + 1)]];
  });
}
