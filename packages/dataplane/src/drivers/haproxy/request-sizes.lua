-- A filter of frontends that limit the body of a request. A body whose length is announced was refused before, by a rule;
-- the others (chunked, or of HTTP/2 without a length) are counted as they pass. `txn.large` makes the answer 413.
local body = { id = "spout-body", flags = filter.FLT_CFG_FL_HTX }

-- Called with what `register_filter` made of the arguments, for each request.
function body.new(self)
  return setmetatable({ seen = 0 }, { __index = self })
end

function body:http_headers(txn, msg)
  if msg.channel:is_resp() or txn:get_var("txn.announced") then return end
  filter.register_data_filter(self, msg.channel)
end

function body:http_payload(txn, msg)
  local length = msg:input()
  self.seen = self.seen + length
  if self.seen <= self.most then return length end
  -- The input has the mark of its end, and trailers, too, so what seems to be too much is looked at.
  self.seen = self.seen - length + #(msg:body() or "")
  if self.seen <= self.most then return length end
  txn:set_var("txn.large", true)
  return filter.ERROR
end

core.register_filter("spout-body", body, function(self, arguments)
  self.most = tonumber(arguments[1])
  return self
end)
