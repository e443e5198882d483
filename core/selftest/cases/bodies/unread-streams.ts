import { setTimeout as pause } from 'node:timers/promises';
import type { Verdict } from '../../attack-case.js';
import { AttackFailure, parseObject, sendOnce, withConnection } from '../../expectations.js';
import type { Scene } from '../../scene.js';

/** The host allows 1 s without reading and 5 s for a response; the rest is for busy machines. */
const CLOSE_DEADLINE_MS = 15_000;
const POLL_MS = 100;

/**
 * Opens a stream of the module and reads nothing. The host must end it, and report its open
 * streams.
 * @param bytes the request
 */
export function expectUnreadStreamToEnd(
  scene: Scene,
  bytes: Buffer,
  module: string,
): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.pause();
    connection.write(bytes);
    let wasOpen = false;
    const deadline = performance.now() + CLOSE_DEADLINE_MS;
    while (performance.now() < deadline) {
      const open = await countStreams(scene, module);
      if (wasOpen && open === 0) return null;
      wasOpen ||= open > 0;
      await pause(POLL_MS);
    }
    return wasOpen ? 'the stream stayed open' : 'the stream was never open';
  });
}

async function countStreams(scene: Scene, module: string): Promise<number> {
  const response = await sendOnce(scene, { target: '/modules' });
  const list = parseObject(response.body)?.['modules'];
  if (!Array.isArray(list)) throw new AttackFailure('the host lists no modules');
  const entries = list as { name: string; counts: { streams?: number } }[];
  return entries.find(({ name }) => name === module)?.counts.streams ?? 0;
}
