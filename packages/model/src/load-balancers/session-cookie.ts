import { z } from 'zod'

export const cookieName = z
  .string()
  .max(64)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a cookie (RFC 6265)')

/** How the cookie looks by which clients keep their member. What is absent is as without any of these. */
export const sessionCookie = z
  .strictObject({
    /** Absent: one of ours, which no other pool has. */
    name: cookieName.optional(),
    /** Absent: `/`. */
    path: z
      .string()
      .max(255)
      .regex(/^\/[!-:<-~]*$/, 'is not the path of a cookie: printable ASCII that begins with / and has no ;')
      .optional(),
    /** Absent: the browser's own choice. */
    sameSite: z.enum(['strict', 'lax', 'none'], { error: 'must be one of strict, lax, none' }).optional(),
    /** Whether browsers send it over TLS alone. Absent: when the client came over TLS. */
    secure: z.boolean().optional(),
    /** Absent: it ends with the browser's session. */
    maxAgeSeconds: z.number().int().min(1).max(31_536_000).optional(),
  })
  .refine(({ sameSite, secure }) => sameSite !== 'none' || secure !== false, {
    path: ['secure'],
    message: 'must not be false with sameSite none: browsers drop such cookies',
  })
  .refine((one) => Object.keys(one).length > 0, { message: 'must say something of the cookie' })
export type SessionCookie = z.infer<typeof sessionCookie>
