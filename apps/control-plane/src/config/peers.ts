import { z } from 'zod'
import { section, tcpPort } from './section.ts'

/** Whether it is like `https://cp1.example:9133`, without anything else. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.port !== '' && url.origin === text
}

/** The other control planes on the same store. */
export const peersSection = section({
  /** Where they reach this one; empty: it is alone. Only with a store that several processes can use. */
  url: z
    .string()
    .refine((text) => text === '' || isOrigin(text), 'is not like https://cp1.example:9133')
    .default(''),
  host: z.string().default('0.0.0.0'),
  port: tcpPort.default(9133),
}).prefault({})
