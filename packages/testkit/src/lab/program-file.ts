import { execFileSync } from 'node:child_process'

/**
 * Writes a program that can be run at once. Another process writes it: while this process has the file open, a child
 * started by another thread inherits the descriptor until it calls `execve`, and the kernel refuses to run a file that
 * is open for writing (`ETXTBSY`, execve(2)).
 */
export function writeProgram(file: string, text: string): void {
  execFileSync('/bin/sh', ['-c', 'cat > "$0" && chmod 755 "$0"', file], { input: text })
}
