import { array, enums, type Infer, object, optional, refine } from 'superstruct';
import { actorId, scope, sha256 } from '../../auth/actor-syntax.js';
import { roleName } from '../../auth/role-table.js';
import { ACTOR_KINDS, type Actor } from '../../contract/index.js';
import { assertDistinct, parseByStruct } from '../../document/parse-file.js';
import { nonEmptyText } from '../../document/structs.js';

/**
 * The names by which a client entry can identify a certificate, the most specific first: the first
 * match decides.
 */
export const CERTIFICATE_NAMES = ['sha256', 'uri', 'dns', 'email', 'common_name'] as const;

export type CertificateName = (typeof CERTIFICATE_NAMES)[number];

/** Keys such as `uri:spiffe://…` and `common_name:billing`. */
export type CertificateTable = ReadonlyMap<string, Actor>;

const client = refine(
  object({
    id: actorId,
    kind: enums(ACTOR_KINDS),
    scopes: array(scope),
    roles: optional(array(roleName)),
    sha256: optional(sha256),
    uri: optional(nonEmptyText()),
    dns: optional(nonEmptyText()),
    email: optional(nonEmptyText()),
    common_name: optional(nonEmptyText()),
  }),
  `exactly one of ${CERTIFICATE_NAMES.join(', ')}`,
  (value) => CERTIFICATE_NAMES.filter((name) => value[name] !== undefined).length === 1,
);

const FILE = object({ clients: array(client) });

type Client = Infer<typeof client>;

/**
 * Parses `{clients: [{id, kind, scopes, roles?, and one name of the certificate}]}`, JSON or YAML.
 * @throws InvalidFile with the position of each violation.
 */
export function parseCertificateFile(file: string, content: string): CertificateTable {
  const { value, source } = parseByStruct(file, content, FILE);
  const { clients } = value;
  assertDistinct(clients.map(keyOf), source, {
    rule: 'duplicate-client',
    message: 'two entries name the same certificate: a certificate stands for one actor',
    hint: null,
    list: 'clients',
  });
  return new Map(
    clients.map((client) => {
      const { kind, id, scopes, roles } = client;
      const actor = { kind, id, scopes: new Set(scopes), ...(roles !== undefined && { roles }) };
      return [keyOf(client), actor];
    }),
  );
}

function keyOf(client: Client): string {
  const kind = CERTIFICATE_NAMES.find((each) => client[each] !== undefined);
  return kind === undefined ? '' : formatCertificateName(kind, String(client[kind]));
}

/** The key of a name in the table. Names of DNS are compared without case (RFC 4343). */
export function formatCertificateName(kind: CertificateName, name: string): string {
  return `${kind}:${kind === 'dns' ? name.toLowerCase() : name}`;
}
