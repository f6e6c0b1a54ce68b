import { hash } from 'node:crypto'

/**
 * The two style sheets that react-aria puts into the page by itself: controls that are pressed do not wait for a double
 * tap, and a dialog's scrolling does not move the page below. A policy can allow exactly these texts.
 */
export const SHEETS_OF_REACT_ARIA = [
  '@layer {\n  [data-react-aria-pressable] {\n    touch-action: pan-x pan-y pinch-zoom;\n  }\n}',
  '@layer {\n  * {\n    overscroll-behavior: contain;\n  }\n}',
] as const

const hashOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${SHEETS_OF_REACT_ARIA.map(hashOf).join(' ')}`,
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page needs nothing of a device but the clipboard, to which it copies commands. */
const PERMISSIONS = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'magnetometer', 'microphone'],
  ...['midi', 'payment', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
]

/** What a browser may do with the page: nothing that the page itself does not need. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': PERMISSIONS.map((name) => `${name}=()`).join(', '),
}
