/**
 * The version of this contract: one integer, `contract` of `plugin.json`. A plugin for another version is
 * rejected before its code runs. New features are flags in `Supports` and keep the version.
 */
export const CONTRACT_VERSION = 1;
