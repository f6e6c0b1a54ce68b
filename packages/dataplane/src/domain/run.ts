import { execFile } from 'node:child_process'

/** Runs a program to its end and resolves with its standard output. Rejects with its standard error when it fails. */
export type Run = (file: string, args: readonly string[], input?: string) => Promise<string>

const TIMEOUT_MS = 20_000

export const run: Run = (file, args, input) =>
  new Promise((resolve, reject) => {
    const child = execFile(file, [...args], { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      const words = stderr.trim().replaceAll(/\s+/g, ' ')
      reject(new Error(`${file} ${args.join(' ')}: ${words === '' ? error.message : words}`))
    })
    // A program that ends before it read everything closes the pipe; its exit status says enough.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
  })
