import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { ProviderFailure } from '../../../../core/contract/index.js';
import { changeRequest, changeResponse, type Mutant } from './mutant.js';

export const UPGRADE_MUTANTS: readonly Mutant[] = [
  {
    clause: 'upgrade.request',
    defect: 'drops the subprotocols of a handshake',
    reason: /must get sec-websocket-protocol/,
    adapter: changeRequest(({ headers, ...invocation }) => {
      const { 'sec-websocket-protocol': _dropped, ...others } = headers;
      return { ...invocation, headers: others };
    }),
  },
  {
    clause: 'upgrade.connection',
    defect: 'keeps the connection to itself',
    reason: /must be returned, a Duplex/,
    adapter: changeResponse(({ connection: _kept, ...outcome }) => outcome),
  },
  {
    clause: 'upgrade.connection',
    defect: 'loses what it read behind the head',
    reason: /first bytes/,
    adapter: changeResponse(async (outcome) => {
      const { connection } = outcome;
      if (connection === undefined) return outcome;
      await once(connection, 'readable');
      connection.read();
      return outcome;
    }),
  },
  {
    clause: 'upgrade.declined',
    defect: 'takes a handshake that is declined for a failure',
    reason: /declined/,
    adapter: changeResponse((outcome) => {
      if (outcome.status === 101) return outcome;
      throw new ProviderFailure('protocol', 'the handshake was declined');
    }),
  },
  {
    clause: 'upgrade.signal',
    defect: 'lets the signal of the call close the connection',
    reason: /did not settle/,
    adapter: changeResponse((outcome, { signal }) => {
      signal.addEventListener('abort', () => outcome.connection?.destroy());
      return outcome;
    }),
  },
  {
    clause: 'upgrade.destroy',
    defect: 'returns a copy of the connection that closes nothing',
    reason: /the end of the connection/,
    adapter: changeResponse((outcome) => {
      const { connection } = outcome;
      return connection === undefined ? outcome : { ...outcome, connection: copy(connection) };
    }),
  },
];

function copy(connection: Duplex): Duplex {
  const copied = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => connection.write(chunk, done),
  });
  connection.on('data', (chunk: Buffer) => copied.push(chunk));
  return copied;
}
