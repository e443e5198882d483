import { array, enums, type Infer, object, optional, refine } from 'superstruct';
import { actorId, scope, sha256 } from '../../auth/actor-syntax.js';
import { ACTOR_KINDS, type Actor } from '../../contract/index.js';
import { createInvalidFile, type Violation } from '../../document/diagnostic.js';
import { parseByStruct } from '../../document/parse-file.js';
import { findRepeated, nonEmptyText } from '../../document/structs.js';

/** How a client entry can name a certificate, the most specific first: the first match decides. */
export const CERTIFICATE_NAMES = ['sha256', 'uri', 'dns', 'email', 'common_name'] as const;

export type CertificateName = (typeof CERTIFICATE_NAMES)[number];

/** Keys such as `uri:spiffe://…` and `common_name:billing`. */
export type CertificateTable = ReadonlyMap<string, Actor>;

const client = refine(
  object({
    id: actorId,
    kind: enums(ACTOR_KINDS),
    scopes: array(scope),
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
 * Parses `{clients: [{id, kind, scopes, and one name of the certificate}]}`, JSON or YAML.
 * @throws InvalidFile with the position of each violation.
 */
export function parseCertificateFile(file: string, content: string): CertificateTable {
  const { value, source } = parseByStruct(file, content, FILE);
  const { clients } = value;
  const repeated = findRepeated(clients.map(keyOf));
  if (repeated !== null) throw createInvalidFile([describeRepeated(repeated)], source);
  return new Map(clients.map((one) => [keyOf(one), createActor(one)]));
}

function createActor({ kind, id, scopes }: Client): Actor {
  return { kind, id, scopes: new Set(scopes) };
}

function keyOf(one: Client): string {
  const name = CERTIFICATE_NAMES.find((each) => one[each] !== undefined);
  return name === undefined ? '' : `${name}:${one[name]}`;
}

function describeRepeated(index: number): Violation {
  return {
    rule: 'duplicate-client',
    message: 'two entries name the same certificate: a certificate stands for one actor',
    hint: null,
    path: ['clients', index],
    at: 'value',
  };
}
