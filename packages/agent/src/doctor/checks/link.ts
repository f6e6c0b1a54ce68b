import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type LinkAnswer, type LinkReading, readLink } from '../readings/link.ts'

const FINDINGS = {
  NotEnrolled: {
    level: 'error',
    what: 'the node has no certificate',
    why: 'It gets no load balancers before it is enrolled.',
    fix: '`spout token create NAME`, its token into the enrolment token file, `systemctl restart spout-agent`',
  },
  CertificateExpired: {
    level: 'error',
    what: "the node's certificate has expired, or is not valid yet",
    why: 'The control plane takes nothing from the node. It goes on with what it has; changes do not reach it.',
    fix: 'the clock first; then `rm IDENTITY`, a new enrolment token, `systemctl restart spout-agent`',
  },
  CertificateNotRenewed: {
    level: 'warning',
    what: "the node's certificate is in the last quarter of its time",
    why: 'The agent renews it after two thirds: it does not run, or the control plane does not answer it.',
    fix: '`systemctl restart spout-agent`',
  },
  ControlPlaneSilent: {
    level: 'error',
    what: 'the control plane does not answer',
    why: 'The node goes on with what it has. Changes do not reach it, and others cannot see how it is.',
    fix: 'start the control plane, or let the node reach it: `server.url` in the settings',
  },
  ControlPlaneDistrusted: {
    level: 'error',
    what: "the control plane's certificate is not of the node's authority, or not for the name in `server.url`",
    why: 'The node does not talk to it: somebody else may answer at that address, or the control plane lost its state.',
    fix: '`agentLink.names` of the control plane; or enrol the node again',
  },
  NodeRefused: {
    level: 'error',
    what: "the control plane does not take the node's certificate",
    why: 'The node was removed there, or the control plane has another authority now.',
    fix: '`rm IDENTITY`, a new enrolment token, `systemctl restart spout-agent`',
  },
} as const satisfies Catalogue
type Code = keyof typeof FINDINGS

/** The agent renews after two thirds, and tries every hour. */
const LATE = 0.75

export const judgeLink = (reading: LinkReading): readonly Found<Code>[] => [
  ...(reading.urls.length === 0 ? [] : ofCertificate(reading)),
  ...ofAnswers(reading),
]

const enrol = ({ enrolmentTokenFile }: LinkReading): string =>
  `put the TOKEN of "spout token create $(hostname)" into ${enrolmentTokenFile}; systemctl restart spout-agent`
const enrolAgain = (reading: LinkReading): string => `rm ${reading.identityFile}; ${enrol(reading)}`

function ofCertificate(reading: LinkReading): readonly Found<Code>[] {
  const { certificate, identityFile, now } = reading
  const about = { subject: identityFile }
  if (certificate === null) {
    return [{ ...about, code: 'NotEnrolled', message: 'The node is not enrolled.', fix: enrol(reading) }]
  }
  const { from, to } = certificate
  if (now < from)
    return [
      {
        ...{ ...about, code: 'CertificateExpired', fix: 'timedatectl set-ntp true' },
        message: `The certificate is valid from ${from.toISOString()}, and the clock says ${now.toISOString()}.`,
      },
    ]
  if (now > to)
    return [
      {
        ...{ ...about, code: 'CertificateExpired', fix: enrolAgain(reading) },
        message: `The certificate ended ${to.toISOString()}, and the clock says ${now.toISOString()}.`,
      },
    ]
  if (now.getTime() < from.getTime() + LATE * (to.getTime() - from.getTime())) return []
  const message = `The certificate ends ${to.toISOString()} and was not renewed.`
  return [{ ...about, code: 'CertificateNotRenewed', message, fix: 'systemctl restart spout-agent' }]
}

/** Of several control planes only the one that leads serves the link, so the silence of others is as it should be. */
function ofAnswers(reading: LinkReading): readonly Found<Code>[] {
  const isAnswered = reading.answers.some(({ outcome }) => outcome === 'answered')
  return reading.answers
    .filter(({ outcome }) => !(isAnswered && outcome === 'silent'))
    .flatMap((answer) => ofAnswer(reading, answer))
}

function ofAnswer(reading: LinkReading, answer: LinkAnswer): readonly Found<Code>[] {
  const { url } = answer
  const subject = url
  if (answer.outcome === 'answered') return []
  const message = `${answer.error}.`
  if (answer.outcome === 'silent')
    return [{ code: 'ControlPlaneSilent', subject, message, fix: `openssl s_client -connect ${new URL(url).host}` }]
  if (answer.outcome === 'refused') return [{ code: 'NodeRefused', subject, message, fix: enrolAgain(reading) }]
  const fix = `on the control plane: its name ${new URL(url).hostname} belongs into agentLink.names; if it has a new state: ${enrolAgain(reading)}`
  return [{ code: 'ControlPlaneDistrusted', subject, message, fix }]
}

export const link = checkOf({
  name: 'control plane',
  catalogue: FINDINGS,
  read: readLink,
  judge: judgeLink,
  right: ({ answers, certificate }) => {
    const answered = answers.find(({ outcome }) => outcome === 'answered')
    if (answered === undefined) return "The node's own settings name all its work, so it asks no control plane."
    return `${answered.url} answers, and the node's certificate is valid to ${certificate?.to.toISOString()}.`
  },
})
