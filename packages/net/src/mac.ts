import { AddressSyntaxError } from './ip.ts'

/** A 48-bit MAC address. */
export type Mac = bigint & { readonly mac: unique symbol }

/** Parses six hexadecimal octets joined by colons or hyphens. @throws AddressSyntaxError */
export function parseMac(text: string): Mac {
  if (!/^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$/.test(text) && !/^[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}$/.test(text))
    throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 32))} is not a MAC address`)
  return BigInt(`0x${text.replaceAll(/[:-]/g, '')}`) as Mac
}

/** Prints lower-case octets joined by colons. */
export const formatMac = (mac: Mac): string =>
  Array.from({ length: 6 }, (_, index) =>
    Number((mac >> BigInt(40 - 8 * index)) & 0xffn)
      .toString(16)
      .padStart(2, '0'),
  ).join(':')
