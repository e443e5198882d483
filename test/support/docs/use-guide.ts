import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Environment, openHost, type RunningModgate } from '../open-host.js';
import { use } from '../use.js';
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
  const folder = use(createGuideFolder, (guide) => guide.remove());
  const host = use(() => {
    cpSync('modules.d', join(folder.path, 'modules.d'), { recursive: true });
    const written = blocks.map((block) => folder.writeFile(block)).filter((file) => file !== null);
    expect(written).to.deep.equal(files);
    const config = join(folder.path, files.at(-1) ?? '');
    return openHost(
      [
        ...['serve', '--config', config, '--port', '0'],
        ...['--modules', join(folder.path, 'modules.d'), '--state', join(folder.path, 'state')],
      ],
      env,
    );
  });

  return {
    folder,
    host,
    runCommands: async () => {
      let compared = 0;
      for (const [index, { kind, body }] of blocks.entries()) {
        const next = blocks[index + 1];
        if (kind !== 'sh' || next?.kind !== 'text') continue;
        const command = body.replaceAll('localhost:3000', new URL(host.url).host);
        expect(await folder.run(command), body).to.equal(next.body.trim());
        compared += 1;
      }
      return compared;
    },
  };
}
