//! Who meets each need of an entry: somebody there, or somebody made now.

use eos_catalog::Component;
use eos_catalog::component::{Feature, Need};
use eos_model::{Diagnostic, Name, article::with_article, codes, nearest::nearest};
use serde_json::{Map, Value as Json};

use super::complete::{Completer, Draft, object};
use super::request::Request;
use crate::passes::find_providers;

impl Completer<'_> {
    pub fn choose_providers(&mut self, draft: &mut Draft<'_>, component: &Component) {
        for (need_name, need) in &component.needs {
            if need.offer == find_providers::EVERYTHING {
                continue;
            }
            if let Some(each) = &need.each {
                self.choose_each(draft, component, need_name, need, each);
                continue;
            }
            if let Some(asked) = draft.request.needs.get(need_name) {
                match self.check_provider(draft.name, need_name, need, asked) {
                    Ok(()) => {
                        let before = object(&mut draft.entry, "needs")
                            .insert(need_name.clone(), Json::from(asked.as_str()));
                        if before != Some(Json::from(asked.as_str())) {
                            self.tell_of_offer(draft, &need.offer, asked);
                        }
                    }
                    Err(diagnostic) => self.found.push(diagnostic),
                }
                continue;
            }
            if draft.entry.get("needs").is_some_and(|needs| needs.get(need_name).is_some()) {
                continue;
            }
            // What is there already takes up something new only when it is told to.
            let is_there = self.chooser.environment.components.contains_key(draft.name);
            if need.soft && (is_there || draft.request.unset.contains(need_name)) {
                continue;
            }
            if let Some(provider) = self.provider(draft, need_name, need) {
                if need.soft {
                    self.note_choice(draft, format!("{need_name} from {provider}"));
                }
                self.tell_of_offer(draft, &need.offer, &provider);
                object(&mut draft.entry, "needs").insert(need_name.clone(), Json::from(provider));
            }
        }
    }

    fn tell_of_offer(&mut self, draft: &Draft<'_>, offer: &str, provider: &str) {
        let note = self.chooser.offer(provider, offer).and_then(|offer| offer.note.clone());
        let said = |note: &String| self.planned.notes.contains(&format!("{}: {note}", draft.name));
        if let Some(note) = note.filter(|note| !said(note)) {
            self.note_choice(draft, note);
        }
    }

    fn check_provider(
        &self,
        name: &str,
        need_name: &str,
        need: &Need,
        asked: &str,
    ) -> Result<(), Diagnostic> {
        let candidates = self.chooser.offering(&need.offer, name);
        if candidates.iter().any(|candidate| candidate == asked) {
            return Ok(());
        }
        let flag = need_name.replace('_', "-");
        let exists = self.chooser.kinds.contains_key(asked);
        let fix = match candidates.as_slice() {
            _ if self.chooser.flag_towards(asked, &need.offer).is_some() => self.turn_on(asked, &need.offer),
            // What it cannot do without is made together with it.
            [] if exists && need.create.is_some() && !need.soft => {
                format!("leave out --{flag}: what offers it is made")
            }
            [] => self.create_first(need, asked, exists, &flag),
            several => format!("--{flag} {}", several.join(" or ")),
        };
        let message = if exists {
            format!("{asked} does not offer {}", need.offer)
        } else {
            format!("there is nothing named {asked:?} to offer {}", need.offer)
        };
        let why = format!("{name} needs {}: it is for {}", need.offer, need.help);
        Err(Diagnostic::error(codes::NOTHING_OFFERS, message).why(why).fix(fix))
    }

    /// What makes somebody who offers what nobody does, under the name that was asked for unless another has it.
    fn create_first(&self, need: &Need, asked: &str, exists: bool, flag: &str) -> String {
        let catalog = self.chooser.catalog;
        let offers =
            |kind: &&str| catalog.component(kind).is_ok_and(|found| found.offers.contains_key(&need.offer));
        let kinds: Vec<&str> = catalog.kinds().filter(offers).collect();
        let own = kinds.iter().copied().find(|kind| *kind == asked);
        let Some(kind) = own.or(need.create.as_deref()).or(kinds.first().copied()) else {
            return format!("leave out --{flag}");
        };
        match exists {
            true => format!("eos create {kind}, then this command with --{flag} {kind}"),
            false if kind == asked => format!("eos create {kind}, then this command again"),
            false => format!("eos create {kind} {asked}, then this command again"),
        }
    }

    /// Who meets a need: somebody there, or somebody made now.
    fn provider(&mut self, draft: &Draft<'_>, need_name: &str, need: &Need) -> Option<String> {
        let candidates = self.chooser.offering(&need.offer, draft.name);
        if let Some(preferred) = self.chooser.preferred(&candidates) {
            if candidates.len() > 1 {
                let all = candidates.join(", ");
                // A need that exists once for each name has no flag of its own.
                let note = match need.each {
                    None => {
                        let flag = need_name.replace('_', "-");
                        format!("{need_name} is {preferred}; --{flag} names another of {all}")
                    }
                    Some(_) => format!("{need_name} is {preferred}, of {all}"),
                };
                self.note_choice(draft, note);
            }
            return Some(preferred);
        }
        if need.soft {
            return None;
        }
        if !candidates.is_empty() {
            let names: Vec<Name> = candidates.iter().filter_map(|name| name.parse().ok()).collect();
            let names: Vec<&Name> = names.iter().collect();
            if let Ok(unit) = draft.name.parse() {
                self.found.push(find_providers::two_offers(&unit, need_name, &need.offer, &names));
            }
            return None;
        }
        match &need.create {
            Some(kind) => self.pull_in(draft, kind, kind, need),
            None => {
                self.found.push(
                    Diagnostic::error(
                        codes::NOTHING_OFFERS,
                        format!("{} needs {} and nothing offers it", draft.name, need.offer),
                    )
                    .why(format!("it is for {}", need.help))
                    .fix("eos catalog list shows what there is"),
                );
                None
            }
        }
    }

    /// What lets somebody offer what it does not.
    fn turn_on(&self, name: &str, offer: &str) -> String {
        match self.chooser.flag_towards(name, offer) {
            Some(flag) => format!("eos update {name} --{flag}, then this command again"),
            None => "eos catalog list shows what there is".to_owned(),
        }
    }

    fn pull_in(&mut self, draft: &Draft<'_>, kind: &str, name: &str, need: &Need) -> Option<String> {
        if self.chooser.kinds.get(name).is_some_and(|other| other == kind) {
            let message = format!("{} needs {}, which {name} does not offer", draft.name, need.offer);
            let told =
                Diagnostic::error(codes::NOTHING_OFFERS, message).why(format!("it is for {}", need.help));
            self.found.push(told.fix(self.turn_on(name, &need.offer)));
            return None;
        }
        if let Some(other) = self.chooser.kinds.get(name) {
            self.found.push(
                Diagnostic::error(
                    codes::NAME_TAKEN,
                    format!(
                        "{} needs {}, but the name {name} belongs to {}",
                        draft.name,
                        with_article(kind),
                        with_article(other)
                    ),
                )
                .fix(format!("eos create {kind} <another name>, then this command again")),
            );
            return None;
        }
        let request = Request { kind: kind.to_owned(), name: name.to_owned(), ..Request::default() };
        let because = format!("{} needs it for {}", draft.name, need.help);
        let entry = Map::from_iter([("created_for".to_owned(), Json::from(draft.name))]);
        self.complete(name, kind, entry, &request, Some(because));
        Some(name.to_owned())
    }

    /// A need that exists once for each name of a list setting.
    fn choose_each(
        &mut self,
        draft: &mut Draft<'_>,
        component: &Component,
        need_name: &str,
        need: &Need,
        setting: &str,
    ) {
        let given = draft.entry.get("settings").and_then(|settings| settings.get(setting)).cloned();
        let value = given.or_else(|| component.settings.get(setting)?.default.clone()).unwrap_or_default();
        let elements: Vec<String> =
            value.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
        let known =
            draft.entry.get("needs").and_then(|needs| needs.get(need_name)).cloned().unwrap_or_default();
        let mut chosen = Map::new();
        for element in elements {
            let provider = if need.named_by().is_some() {
                self.named(draft, need, &element)
            } else if let Some(before) = known.get(&element).and_then(Json::as_str) {
                Some(before.to_owned())
            } else {
                let asked = draft.request.needs.get(need_name).cloned();
                let chosen = asked.or_else(|| self.provider(draft, need_name, need));
                chosen.iter().for_each(|provider| self.tell_of_offer(draft, &need.offer, provider));
                chosen
            };
            chosen.extend(provider.map(|provider| (element, Json::from(provider))));
        }
        let needs = object(&mut draft.entry, "needs");
        if chosen.is_empty() {
            needs.shift_remove(need_name);
        } else {
            needs.insert(need_name.to_owned(), Json::Object(chosen));
        }
    }

    /// The one of that name, if it offers what is needed; made now where the name is a kind that does.
    fn named(&mut self, draft: &Draft<'_>, need: &Need, element: &str) -> Option<String> {
        let mut candidates = self.chooser.offering(&need.offer, draft.name);
        if candidates.iter().any(|candidate| candidate == element) {
            return Some(element.to_owned());
        }
        let catalog = self.chooser.catalog;
        let offers = |kind: &str| catalog.component(kind).is_ok_and(|c| c.offers.contains_key(&need.offer));
        let kind = self.chooser.kinds.get(element);
        if kind.is_none() && catalog.folder(element).is_some() && offers(element) {
            return self.pull_in(draft, element, element, need);
        }
        let flag = need.named_by().unwrap_or_default().replace('_', "-");
        candidates.extend(need.create.clone().filter(|kind| !candidates.contains(kind)));
        let problem = match kind {
            Some(kind) => {
                let other = self.feature_towards(draft.name, kind).filter(|_| element != draft.name);
                let fix = match other {
                    Some(feature) => {
                        format!("eos update {element} --{feature}, and leave it out of --{flag}")
                    }
                    None => format!("leave {element} out of --{flag}; {} would do", candidates.join(" or ")),
                };
                Diagnostic::error(codes::NOTHING_OFFERS, format!("{element} does not offer {}", need.offer))
                    .why(format!("--{flag} names {}; {kind} is no kind that has one", need.help))
                    .fix(fix)
            }
            None => {
                let env = &self.chooser.environment.name;
                let fix = match (nearest(element, candidates.iter().map(String::as_str)), &need.create) {
                    (Some(near), _) => format!("did you mean {near}? eos list shows all"),
                    (None, Some(kind)) => format!("eos create {kind} {element}, then this command again"),
                    (None, None) => "eos list shows the names there are".to_owned(),
                };
                Diagnostic::error(codes::UNKNOWN_NAME, format!("{env} has nothing named {element:?}"))
                    .why(format!("--{flag} names {}", need.help))
                    .fix(fix)
            }
        };
        if !self.found.0.contains(&problem) {
            self.found.push(problem);
        }
        None
    }

    /// The flag that lets one of `kind` use what `provider` offers.
    fn feature_towards(&self, provider: &str, kind: &str) -> Option<String> {
        let offers = self.chooser.component(provider)?;
        let component = self.chooser.catalog.component(kind).ok()?;
        let uses = |feature: &Feature| {
            let needs = feature.add.get("needs").and_then(Json::as_object);
            let mut wanted =
                needs.into_iter().flat_map(Map::values).filter_map(|need| need.get("offer")?.as_str());
            wanted.any(|offer| offers.offers.contains_key(offer))
        };
        let mut flags = component.features.iter().filter(|(_, feature)| feature.when.is_none());
        flags.find(|(_, feature)| uses(feature)).map(|(name, _)| name.replace('_', "-"))
    }
}
