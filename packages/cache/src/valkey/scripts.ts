/**
 * The methods of SharedEntries as scripts, in the order of the contract: each takes effect at one moment, and each
 * counts time on the server's clock, so that hosts whose clocks are an hour apart agree on ages.
 *
 * One hash per key: `v` version, `r` when the origin was asked, `k` until when it may be kept, `b` bytes; `f` the newest
 * version said to exist, `fu` until when that is remembered; `t` the token that holds the fill lease, `l` the version
 * that its load will have seen, `u` until when. Instants are ms of the server's clock.
 *
 * `p` is `v r k f` as one text, there only while the copy is not known to be outdated: what a reader needs to take `b`
 * without a script.
 *
 * Numbers in Lua are doubles: exact for whole numbers up to 2^53, as in JavaScript. Versions are answered as the text
 * they were stored as, since integer replies near 2^53 are rounded on their way.
 */
const NOW = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

/** Lets the key live as long as anything in it does. */
const KEEP = `local kept = redis.call('HMGET', KEYS[1], 'k', 'fu', 'u')
local untilMs = math.max(tonumber(kept[1] or 0), tonumber(kept[2] or 0), tonumber(kept[3] or 0))
if untilMs > now then redis.call('PEXPIRE', KEYS[1], untilMs - now) else redis.call('DEL', KEYS[1]) end
`

/** Brings `p` up to date; after everything that changes the copy or the known version. */
const PEEK = `local c = redis.call('HMGET', KEYS[1], 'v', 'r', 'k', 'f')
if c[1] and (not c[4] or tonumber(c[1]) >= tonumber(c[4])) then
  redis.call('HSET', KEYS[1], 'p', c[1] .. ' ' .. c[2] .. ' ' .. c[3] .. ' ' .. (c[4] or '0'))
else
  redis.call('HDEL', KEYS[1], 'p')
end
`

/**
 * ARGV: minVersion, floor, freshMs, token, leaseMs. Answers what the server's clock shows, who fills (a place in `FILLS`),
 * leaseMs, floor and, with a copy, version, age, bytes. A copy from the future was kept before the clock was set back:
 * nobody knows how old it is, so there is none.
 */
export const LOOK = `${NOW}
local h = redis.call('HMGET', KEYS[1], 'v', 'r', 'k', 'f', 'fu', 't', 'l', 'u', 'b')
local minVersion, floor, freshMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local known = '0'
if h[4] and tonumber(h[5]) > now then known = h[4] end
local needed = math.max(floor, tonumber(known))
local version, age, bytes
if h[1] and tonumber(h[3]) > now and tonumber(h[2]) <= now and tonumber(h[1]) >= minVersion then
  version = h[1]
  age = now - tonumber(h[2])
  bytes = h[9]
end
local fill, leaseMs = 0, 0
if not (version and age < freshMs and tonumber(version) >= needed) then
  if h[6] and tonumber(h[8]) > now and tonumber(h[7]) >= floor and h[6] ~= ARGV[4] then
    fill = 2
    leaseMs = tonumber(h[8]) - now
  else
    fill = 1
    leaseMs = tonumber(ARGV[5])
    redis.call('HSET', KEYS[1], 't', ARGV[4], 'l', needed, 'u', now + leaseMs)
    ${KEEP}
  end
end
if version then return { now, fill, leaseMs, known, version, age, bytes } end
return { now, fill, leaseMs, known }
`

export const FILLS = ['unneeded', 'yours', 'others'] as const

/** ARGV: token, version, ageMs, keepMs, bytes, channel, address. */
export const STORE = `${NOW}
local h = redis.call('HMGET', KEYS[1], 't', 'v', 'f', 'fu', 'k', 'u')
if h[1] ~= ARGV[1] or tonumber(h[6]) <= now then return 'overtaken' end
redis.call('HDEL', KEYS[1], 't', 'l', 'u')
local version = tonumber(ARGV[2])
local isBehind = (h[3] and tonumber(h[4]) > now and version < tonumber(h[3]))
  or (h[2] and tonumber(h[5]) > now and version < tonumber(h[2]))
if isBehind then
  ${KEEP}
  redis.call('PUBLISH', ARGV[6], 'freed 0 ' .. ARGV[7])
  return 'overtaken'
end
redis.call('HSET', KEYS[1], 'v', ARGV[2], 'r', now - tonumber(ARGV[3]), 'k', now + tonumber(ARGV[4]), 'b', ARGV[5])
${PEEK}
${KEEP}
redis.call('PUBLISH', ARGV[6], 'filled 0 ' .. ARGV[7])
return 'stored'
`

/** ARGV: token, channel, address. */
export const RELEASE = `${NOW}
if redis.call('HGET', KEYS[1], 't') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 't', 'l', 'u')
${KEEP}
redis.call('PUBLISH', ARGV[2], 'freed 0 ' .. ARGV[3])
return 1
`

/** What `invalidate` and `forget` begin with. ARGV: version, keepMs, channel, address. */
const RAISE = `${NOW}
local version, untilMs = tonumber(ARGV[1]), now + tonumber(ARGV[2])
local h = redis.call('HMGET', KEYS[1], 'f', 'fu', 'l')
local known = 0
if h[1] and tonumber(h[2]) > now then known = tonumber(h[1]) end
redis.call('HSET', KEYS[1], 'f', math.max(known, version), 'fu', math.max(tonumber(h[2] or 0), untilMs))
`

export const INVALIDATE = `${RAISE}
if h[3] and tonumber(h[3]) < version then redis.call('HDEL', KEYS[1], 't', 'l', 'u') end
do ${PEEK} end
do ${KEEP} end
redis.call('PUBLISH', ARGV[3], 'outdated ' .. ARGV[1] .. ' ' .. ARGV[4])
return 1
`

export const FORGET = `${RAISE}
redis.call('HDEL', KEYS[1], 'v', 'r', 'k', 'b', 'p', 't', 'l', 'u')
do ${KEEP} end
redis.call('PUBLISH', ARGV[3], 'forgotten ' .. ARGV[1] .. ' ' .. ARGV[4])
return 1
`
