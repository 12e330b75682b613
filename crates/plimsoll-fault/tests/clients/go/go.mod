module plimsoll.invalid/fault-clients

go 1.23.0

require github.com/Shopify/toxiproxy/v2 v2.12.0
