import type { OwnCase } from '../corpus.js';
import type { Surroundings, WeakenedHost, Weakness } from './weakness.js';

/**
 * The texts that passed a proxy. `close`: the last text of a host before it closed the connection.
 */
interface RecordedText {
  readonly kind: 'request' | 'response' | 'close';
  readonly text: string;
}

/** No connection to port 0 succeeds. */
const NOWHERE: Surroundings = {
  ...{ host: 0, provider: 0, sockets: 0, introspection: 0, candidate: 0, bystander: 0 },
  secret: 'a-secret',
};

/** Records what cases send and get, to find those whose result a weakness can change. */
export function createRecording() {
  const recorded = new Map<string, RecordedText[]>();
  let current: RecordedText[] = [];
  const record = (kind: RecordedText['kind'], text: string) => {
    current.push({ kind, text });
    return text;
  };
  const weakness: Weakness = {
    changeRequest: (text) => record('request', text),
    changeResponse: (text) => record('response', text),
    onClose: (last) => {
      record('close', last);
      return '';
    },
  };
  return {
    /** Records for the case that runs, and changes nothing. */
    weakness,
    /** The cases, to be run one after the other. */
    follow: (attacks: readonly OwnCase[]): OwnCase[] =>
      attacks.map((attack) => ({
        ...attack,
        isSlow: false,
        attack: (scene) => {
          current = [];
          recorded.set(attack.id, current);
          return attack.attack(scene);
        },
      })),
    /**
     * @returns the cases of which the weakness changes or delays a text. In all others, client and host get the
     * same bytes as without it, so that their results are the same.
     */
    listTouched: async ({ weaken }: WeakenedHost): Promise<string[]> => {
      const weakness = weaken(NOWHERE);
      const touched: string[] = [];
      for (const [id, texts] of recorded) {
        if (await touches(weakness, texts)) touched.push(id);
      }
      return touched;
    },
  };
}

/** All texts are tried, because a weakness may count them. */
async function touches(weakness: Weakness, texts: readonly RecordedText[]): Promise<boolean> {
  let isTouched = weakness.isGreedy ?? false;
  for (const text of texts) isTouched = (await changes(weakness, text)) || isTouched;
  return isTouched;
}

async function changes(weakness: Weakness, { kind, text }: RecordedText): Promise<boolean> {
  if (kind === 'close') return (weakness.onClose?.(text) ?? '') !== '';
  if (kind === 'response') return (weakness.changeResponse?.(text) ?? text) !== text;
  if ((weakness.bypass?.(text) ?? null) !== null) return true;
  if ((weakness.changeRequest?.(text) ?? text) !== text) return true;
  if (weakness.respond === undefined) return false;
  // Whatever asks a server or waits has no result yet.
  const response = weakness.respond(text).catch(() => text);
  const unfinished = new Promise<string>((resolve) => setImmediate(resolve, text));
  return (await Promise.race([response, unfinished])) !== null;
}
