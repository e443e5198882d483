import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Environment, openHost, type RunningModgate } from '../open-host.js';
import { started } from '../started.js';
import { readDocumentedBlocks } from './documented-commands.js';
import { createGuideFolder, type GuideFolder } from './guide-folder.js';

interface GuideOptions {
  /** The page, whose first lines of code blocks name files. */
  readonly page: string;
  /** The files of the page, in its order, with the configuration of the host as the last one. */
  readonly files: readonly string[];
  readonly env?: Environment;
}

interface Guide {
  /** @throws before the hooks have run. */
  readonly folder: GuideFolder;
  /** @throws before the hooks have run. */
  readonly host: RunningModgate;
  /** Runs each `sh` block with a `text` block after it, and compares. @returns how many there are. */
  runCommands(): Promise<number>;
}

/**
 * Writes the files of a guide beside the examples, and starts a host with them, for all tests of a `describe`.
 * Also checks that the page has these files and that the host ends well.
 */
export function useGuide({ page, files, env = {} }: GuideOptions): Guide {
  const blocks = readDocumentedBlocks(page);
  let folder: GuideFolder | undefined;
  let host: RunningModgate | undefined;

  before(async () => {
    const guide = createGuideFolder();
    folder = guide;
    cpSync('modules.d', join(guide.path, 'modules.d'), { recursive: true });
    const written = blocks.map((block) => guide.writeFile(block)).filter((file) => file !== null);
    expect(written).to.deep.equal(files);
    const config = join(guide.path, files.at(-1) ?? '');
    host = await openHost(
      [
        ...['serve', '--config', config, '--port', '0'],
        ...['--modules', join(guide.path, 'modules.d'), '--state', join(guide.path, 'state')],
      ],
      env,
    );
  });

  after(async () => {
    const exit = await host?.stop();
    folder?.remove();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  return {
    get folder() {
      return started(folder);
    },
    get host() {
      return started(host);
    },
    runCommands: async () => {
      let compared = 0;
      for (const [index, { kind, body }] of blocks.entries()) {
        const next = blocks[index + 1];
        if (kind !== 'sh' || next?.kind !== 'text') continue;
        const command = body.replaceAll('localhost:3000', new URL(started(host).url).host);
        expect(await started(folder).run(command), body).to.equal(next.body.trim());
        compared += 1;
      }
      return compared;
    },
  };
}
