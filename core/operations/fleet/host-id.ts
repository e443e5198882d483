import { randomUUID } from 'node:crypto';
import { PrivateFolder } from '../../modules/private-folder.js';

const FILE = 'host-id';
export const HOST_ID = /^host_[0-9a-f-]{36}$/;

/**
 * Reads the name of the host in its fleet. It is stored in the state folder, so it stays after a
 * restart.
 */
export async function readHostId(stateDir: string): Promise<string> {
  const folder = new PrivateFolder(stateDir, {
    recursive: true,
    folderMode: 0o700,
    fileMode: 0o600,
  });
  const read = async () => {
    const id = (await folder.read(FILE))?.trim() ?? '';
    return HOST_ID.test(id) ? id : null;
  };
  const stored = await read();
  if (stored !== null) return stored;
  const id = `host_${randomUUID()}`;
  // The processes of a host may create it at once.
  await folder.create(FILE, `${id}\n`);
  const created = await read();
  if (created !== null) return created;
  await folder.write(FILE, `${id}\n`);
  return id;
}
