import { execOk } from '@spout/sys'

/** Runs a program to its end and resolves with its standard output. Rejects with its standard error when it fails. */
export type Run = (file: string, args: readonly string[], input?: string) => Promise<string>

const TIMEOUT_MS = 20_000

export const run: Run = (file, args, input) => execOk([file, ...args], { input, timeoutMs: TIMEOUT_MS })
