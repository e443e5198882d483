import { isAbsolute, join } from 'node:path';
import { array, refine, type Struct, size } from 'superstruct';
import type { HostUse, OpenContext } from '../../core/contract/index.js';
import { described, matching, optionally } from '../../core/contract/index.js';
import { Child, type RunningCommand } from './child.js';
import { environmentConfig, readEnvironment } from './environment-config.js';

const MAX_ARGUMENTS = 256;

const argument = matching('text without a zero byte', /^[^\0]*$/, {
  pattern: '^[^\\u0000]*$',
});

const folder = matching('path of a folder', /^[^\0\n]+$/, { pattern: '^[^\\u0000\\n]+$' });

/** A program that the host runs. */
export interface CommandConfig {
  /** The program and its arguments, without a shell. */
  readonly command: string[];
  /** Relative to the descriptor. Default: the descriptor's folder. */
  readonly cwd?: string | undefined;
  /** Text, or references to secrets, by name. Default: none but `PATH` and `MODGATE_MODULE`. */
  readonly env?: Record<string, string> | undefined;
}

/** The structs of {@link CommandConfig}, for `object` of superstruct. */
export const commandMembers: CommandMembers = {
  command: described(
    refine(
      size(array(argument), 1, MAX_ARGUMENTS),
      'list of a program and its arguments',
      ([program]) => program !== '',
    ),
    {
      minItems: 1,
      maxItems: MAX_ARGUMENTS,
      description: 'A program and its arguments; there is no shell.',
    },
  ),
  cwd: optionally(folder, {
    description: "Working directory, relative to the descriptor. Default: the descriptor's folder.",
  }),
  env: optionally(environmentConfig, {}),
};

interface CommandMembers {
  readonly command: Struct<string[], unknown>;
  readonly cwd: Struct<string | undefined, null>;
  readonly env: Struct<Record<string, string> | undefined, unknown>;
}

/**
 * Reads what a command needs, and starts nothing yet.
 * @returns starts the command, with its protocol on stdin and stdout; lines of stderr are logged
 * @throws Error for a secret that cannot be used.
 */
export function prepareCommand(
  config: CommandConfig,
  context: Pick<OpenContext, 'module' | 'secret' | 'path' | 'log'>,
): () => RunningCommand {
  const options = {
    command: config.command,
    cwd: context.path(config.cwd ?? '.'),
    env: createEnvironment(config, context),
    log: context.log,
    hasProtocol: true,
  };
  return () => new Child(options);
}

/**
 * The `hostUses` of a config: the program, its folder, and arguments that are absolute or step out of a folder.
 */
export function listHostUses({
  command,
  cwd = '.',
}: Pick<CommandConfig, 'command' | 'cwd'>): readonly HostUse[] {
  const [program = '', ...args] = command;
  const locate = (written: string) => {
    const path = isAbsolute(written) ? written : join(cwd, written);
    // Without a slash it would be a program of PATH.
    return isAbsolute(path) ? path : `./${path}`;
  };
  const files = args.filter((text) => isAbsolute(text) || text.split('/').includes('..'));
  return [
    { kind: 'command', name: program.includes('/') ? locate(program) : program },
    ...['.', ...files].map((path) => ({ kind: 'file', name: locate(path) }) as const),
  ];
}

/** Passes on only `PATH` of the host's environment. */
export function createEnvironment(
  { env }: Pick<CommandConfig, 'env'>,
  { module, secret }: Pick<OpenContext, 'module' | 'secret'>,
): Record<string, string> {
  const { PATH } = process.env;
  return {
    ...(PATH !== undefined && { PATH }),
    ...readEnvironment(env, secret),
    MODGATE_MODULE: module,
  };
}
