import type { Log, Scope } from '../contract/index.js';
import { type References, readDocument } from '../document/references.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { openReloadedFiles } from '../watch/reloaded-file.js';

interface FollowOptions {
  readonly references: References;
  readonly log: Log;
  /** Ends the watch. */
  readonly scope: Pick<Scope, 'defer'>;
  /** Owner of errors that `onChange` throws; `null` is the host. */
  readonly owner: ErrorOwner | null;
}

/** Creates `follow` for the context of one opened provider. */
export function createFollower({ references, log, scope, owner }: FollowOptions) {
  return async <T>(reference: string, onChange: (content: T) => void): Promise<T> => {
    const { path, struct } = references.document(reference);
    const opened = await openReloadedFiles<T>([path], {
      log,
      name: 'followed file',
      describe: () => ({}),
      parse: ([bytes = Buffer.alloc(0)]) => readDocument(path, bytes, struct) as T,
    });
    scope.defer(() => opened.close());
    opened.onChange = (content) => runAs(owner, () => onChange(content));
    return opened.current;
  };
}
