package forms

import (
	"strings"
	"sync"
)

// serviceNames are the names of services with which their variables begin, in lower case and without signs. They have
// no form of their own: 32 hexadecimal digits, a UUID. Beside such a name a value like a key is one.
const serviceNames = `
abuseipdb accuweather adafruit aftership agora airbrake airtable algolia alibaba alicloud aliyun alpaca alphavantage
amadeus amplitude anthropic anypoint apollo appcues appdynamics appfollow appoptics appsflyer appsignal appveyor asana
assemblyai assembly atlassian aviationstack azure bamboo baseten beamer bigcommerce binance bingmaps bingsearch bitbucket bitfinex
bitly bitmex bitrise bittrex blynk box braintree branchio brandfetch braze brightdata browserless browserstack bugsnag bunny
buttercms bybit calendarific censys chargebee chatbot checkly cirrus cisco civo clarifai clearbit clerk clever clicksend clickup
clockify cloudflare cloudinary cloudsmith cmcpro codacy codeclimate codecov codeship cohere coinapi coinbase coingecko coinlayer
coinmarketcap confluence confluent contentful contentstack covalent coveralls crowdin cryptocompare currencylayer customerio
dailyco datadog datagov debounce deepai deepgram deepl deepseek delighted descope digitalocean discord disqus docparser docusign
drone droneci dropbox dune dwolla dynatrace edamam elastic elevenlabs etherscan etsy eventbrite exchangerate exoscale facebook
fastly figma filestack finicity finnhub flickr flutterwave fossa foursquare freshbooks freshdesk frontegg fullstory gandi geminiapi
geocodio getresponse ghost giphy github gitguardian gitlab gitter gnews godaddy googlemaps gmaps grafana graphhopper greptile
greynoise groq gumroad harness harvest helpscout heroku hetzner hightouch honeybadger honeycomb hubspot hunter ibmcloud imgbb imgur
infura instabot instana intercom intrinio ipdata ipgeolocation ipinfo ipstack iterable jfrog jira jotform jumpcloud kagi keen
kickbox klaviyo klipfolio kraken kucoin languagelayer lastfm launchdarkly lemonsqueezy lightstep linear linkedin linode livekit
lokalise logdna loggly logtail logzio looker mailboxlayer mailchannels mailchimp mailerlite mailersend mailgun mailjet mailtrap
mandrill mapbox mapquest mapsapi maptiler marketstack mattermost mediastack meilisearch meraki messagebird mezmo mistral mixpanel
monday moonshot moralis mux namecheap nasdaq netlify neutrino newrelic newsapi nexmo ngrok notion novu numverify nutritionix nylas
nytimes okta omdb onesignal openai opencage openrouter openweather openweathermap opsgenie optimizely ovh owm pagerduty paddle
pandadoc papertrail particle pastebin patreon paypal pdflayer pdfshift pepipost percy perplexity phrase pinata pinecone pipedrive
pivotal pixabay plaid plivo polygon positionstack posthog postmark postman prismic privateai pusher pushbullet pushover qdrant
quandl quicknode rapidapi raygun razorpay readme recaptcha reddit redmine render replicate resend revai ringcentral rollbar
roboflow runway salesforce saucelabs scaleway scraperapi scrapestack scrapingbee screenshotapi securitytrails segment semgrep
sendbird sendgrid sendinblue sentry serpapi serper serpstack shippo shodan shopify shortcut shotstack signalfx signalwire sinch
sipgate slack smartsheet smartystreets snyk sonar sonarqube sparkpost splunk speech spoonacular spotify squarespace stability statuspage
storyblok strava streamchat stytch sumologic supabase surveymonkey svix sysdig tatum taxjar tavily teamcity teamwork telegram
tenable testingbot textmagic thegraph themoviedb thinkific ticketmaster tiingo timezonedb tinify tinypng tmdb todoist together
toggl tomtom tradier translator transloadit travis trello tripadvisor twelvelabs twilio twitch twitter twelvedata typeform typesense unsplash
uploadcare uptimerobot urlscan userstack vatlayer vercel vimeo virustotal visualcrossing voyage vonage vultr wakatime walkscore
wandb weatherapi weatherbit weatherstack webex webflow webpurify wistia wolfram worldweather wrike xendit yandex yelp youtube
zapier zendesk zenserp zerobounce zhipu zoho zoom zulip`

// serviceSet is the set of these names, and the length of the longest one.
var serviceSet = sync.OnceValues(func() (map[string]bool, int) {
	set, most := map[string]bool{}, 0
	for _, name := range strings.Fields(serviceNames) {
		set[name], most = true, max(most, len(name))
	}
	return set, most
})

// Service reports the name of a variable, header or field that begins with that of a service: OPENWEATHER_KEY,
// x-coinapi-key, pusher.key.
func Service(name string) bool {
	set, most := serviceSet()
	var plain [32]byte
	n := 0
	for i := 0; i < len(name) && n < min(most, len(plain)); i++ {
		b := name[i]
		switch {
		case b >= 'A' && b <= 'Z':
			if b += 'a' - 'A'; n == 1 && plain[0] == 'x' { // xCoinapiKey
				n = 0
			}
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
		default:
			if n == 1 && plain[0] == 'x' { // x-coinapi-key
				n = 0
			}
			continue
		}
		plain[n] = b
		n++
		if n > 2 && set[string(plain[:n])] {
			return true
		}
	}
	return false
}
