/**
 * What ops have to put right before anything can run: usage, a setting, a file. The message is one line,
 * lower case, and names the source; `modgate` prints it on stderr and exits with 2 (contract 8).
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
