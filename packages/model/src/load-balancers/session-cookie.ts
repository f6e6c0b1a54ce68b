import { z } from 'zod'

export const cookieName = z
  .string()
  .max(64)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a cookie (RFC 6265)')

/** Attributes of the cookie that the proxy sets to keep a client at its member. */
export const sessionCookie = z
  .strictObject({
    /** Absent: a generated name, unique to the pool. */
    name: cookieName.optional(),
    /** Absent: `/`. */
    path: z
      .string()
      .max(255)
      .regex(/^\/[!-:<-~]*$/, 'is not the path of a cookie: printable ASCII that begins with / and has no ;')
      .optional(),
    /** Absent: the attribute is not sent, and the browser decides. */
    sameSite: z.enum(['strict', 'lax', 'none'], { error: 'must be one of strict, lax, none' }).optional(),
    /** Whether browsers send the cookie only over TLS. Absent: if the client connected with TLS. */
    secure: z.boolean().optional(),
    /** Absent: the cookie ends with the browser's session. */
    maxAgeSeconds: z.number().int().min(1).max(31_536_000).optional(),
  })
  .refine(({ sameSite, secure }) => sameSite !== 'none' || secure !== false, {
    path: ['secure'],
    message: 'must not be false with sameSite none: browsers drop such cookies',
  })
  .refine((one) => Object.keys(one).length > 0, { message: 'must say something of the cookie' })
export type SessionCookie = z.infer<typeof sessionCookie>
