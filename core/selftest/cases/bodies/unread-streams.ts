import { setTimeout as pause } from 'node:timers/promises';
import type { Verdict } from '../../attack-case.js';
import { parseObject, sendOnce } from '../../expectations.js';
import { RawConnection } from '../../raw-http.js';
import { craftRequest } from '../../request-bytes.js';
import type { Scene } from '../../scene.js';

/**
 * The host allows a client 1 s without reading, and 5 s for a response; the rest is for a busy
 * machine.
 */
const CLOSE_DEADLINE_MS = 15_000;
const POLL_MS = 100;

/**
 * Opens a stream of the module and reads nothing. The host must end it, and report its open
 * streams.
 * @param bytes the request
 */
export async function expectUnreadStreamToEnd(
  scene: Scene,
  bytes: Buffer,
  module: string,
): Promise<Verdict> {
  const connection = await RawConnection.to(scene.address);
  try {
    connection.pause();
    connection.write(bytes);
    let wasOpen = false;
    const deadline = performance.now() + CLOSE_DEADLINE_MS;
    while (performance.now() < deadline) {
      const open = await countStreams(scene, module);
      if (typeof open === 'string') return open;
      if (wasOpen && open === 0) return null;
      wasOpen ||= open > 0;
      await pause(POLL_MS);
    }
    return wasOpen ? 'the stream stayed open' : 'the stream was never open';
  } finally {
    connection.destroy();
  }
}

async function countStreams(scene: Scene, module: string): Promise<number | string> {
  const response = await sendOnce(scene, craftRequest(scene, { target: '/modules' }));
  if (typeof response === 'string') return response;
  const list = parseObject(response.body)?.['modules'];
  if (!Array.isArray(list)) return 'the host lists no modules';
  const entries = list as { name: string; counts: { streams?: number } }[];
  return entries.find(({ name }) => name === module)?.counts.streams ?? 0;
}
