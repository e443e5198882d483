import { array, define, type Infer, object, omit, refine, size } from 'superstruct';
import { described, named, optionally, secretReference } from '../../core/contract/index.js';
import { clientTls } from '../shared/client-tls.js';
import { health } from '../shared/health-config.js';
import { oneMember } from '../shared/keywords.js';

/** Prefix of the subjects of replies. */
export const DEFAULT_INBOX = '_INBOX';

/** Larger clusters use DNS. */
const MAX_SERVERS = 16;

/** With an operation and a token appended, a subject stays below the 4 KiB per line of a server. */
const MAX_SUBJECT_LENGTH = 200;

const SERVER = /^(?:nats|tls):\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?$/;
/** Tokens without wildcards and without characters that NATS clients treat differently. */
const SUBJECT = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

const server = described(
  define<string>(
    'nats:// or tls:// with a host and perhaps a port, without credentials',
    (value) => typeof value === 'string' && SERVER.test(value) && URL.canParse(value),
  ),
  { type: 'string', pattern: SERVER.source },
);

const subject = named(
  'natsSubject',
  described(
    define<string>(
      'subject of letters, digits, hyphens and underscores between dots',
      (value) =>
        typeof value === 'string' && value.length <= MAX_SUBJECT_LENGTH && SUBJECT.test(value),
    ),
    { type: 'string', maxLength: MAX_SUBJECT_LENGTH, pattern: SUBJECT.source },
  ),
);

const user = described(
  define<string>('name of a user', (value) => typeof value === 'string' && value.length > 0),
  { type: 'string', minLength: 1, description: 'Name of the user.' },
);

const auth = described(
  refine(
    object({
      user: optionally(
        object({
          name: user,
          password: described(secretReference(), { description: 'Password of the user.' }),
        }),
        { description: 'Name and password.' },
      ),
      token: optionally(secretReference(), { description: 'A token.' }),
      nkey: optionally(secretReference(), { description: 'Seed of a user nkey.' }),
      creds: optionally(secretReference(), { description: 'Content of a credentials file.' }),
    }),
    'exactly one of user, token, nkey and creds',
    (value) => Object.values(value).filter((part) => part !== undefined).length === 1,
  ),
  oneMember("The host's credentials for the server: exactly one kind."),
);

/** `provider.config` of kind `nats`. */
export const natsConfig = object({
  servers: described(size(array(server), 1, MAX_SERVERS), {
    minItems: 1,
    maxItems: MAX_SERVERS,
    description: 'Tried in turn; tls:// requires TLS. Without credentials.',
  }),
  subject: described(subject, {
    description: 'Prefix of every operation: requests go to <subject>.http_route and so on.',
  }),
  inbox: optionally(subject, {
    default: DEFAULT_INBOX,
    description: 'Prefix of the subjects of responses.',
  }),
  auth: optionally(auth, {}),
  tls: optionally(clientTls, {}),
  // A check is a separate message without a path.
  health: optionally(omit(health, ['path']), {
    description: 'Active checks of the provider; none without it.',
  }),
});

export type NatsConfig = Infer<typeof natsConfig>;
