/** Text of others as one harmless line: control characters would let a name repaint the reader's terminal. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd')
